import { describe, expect, it } from 'vitest'
import { createLossCheck } from '../../src/discovery/lost-servers.ts'
import { DiscoveryError } from '../../src/discovery/provider.ts'

const listOf = (count: number) => ({
  servers: Array.from({ length: count }, (_, index) => ({ name: `s${index}`, sources: {} })),
  refused: [],
})

describe('createLossCheck', () => {
  it.each([
    [1, 0],
    [30, 0],
    [10, 4],
  ])('takes a list that goes from %i to %i servers only if two readings say the same', (had, has) => {
    const check = createLossCheck()
    expect(() => check(listOf(had), listOf(has))).toThrow(DiscoveryError)
    expect(check(listOf(had), listOf(has)).servers).toHaveLength(has)
  })

  it('starts again when the list was complete in between', () => {
    const check = createLossCheck()
    expect(() => check(listOf(3), listOf(0))).toThrow(/0 instead of 3 servers/)
    check(listOf(3), listOf(3))
    expect(() => check(listOf(3), listOf(0))).toThrow(DiscoveryError)
  })

  it.each([
    [0, 0],
    [9, 1],
    [10, 5],
    [5, 50],
  ])('takes a list that goes from %i to %i servers at once', (had, has) => {
    expect(createLossCheck()(listOf(had), listOf(has)).servers).toHaveLength(has)
  })
})
