import { describe, expect, it } from 'vitest'
import { createLossCheck } from '../../src/discovery/lost-servers.ts'
import { DiscoveryError } from '../../src/discovery/provider.ts'

const listOf = (count: number, first = 0) => ({
  servers: Array.from({ length: count }, (_, index) => ({ name: `s${first + index}`, sources: {} })),
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

  it('takes as many other servers only if two readings say the same', () => {
    const check = createLossCheck()
    expect(() => check(listOf(20), listOf(20, 11))).toThrow(/lacks 11 of its 20 servers/)
    expect(check(listOf(20), listOf(20, 11)).servers).toHaveLength(20)
    expect(check(listOf(20), listOf(20, 10)).servers).toHaveLength(20)
  })

  it('starts again when the list was complete in between', () => {
    const check = createLossCheck()
    expect(() => check(listOf(3), listOf(0))).toThrow(/lacks 3 of its 3 servers/)
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
