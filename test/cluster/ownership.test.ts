import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOwnership } from '../../src/cluster/ownership.ts'

const servers = Array.from({ length: 3_000 }, (_, index) => `server-${index}`)
const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 8 })
const ownersOf = (members: readonly string[]) => servers.map(createOwnership(members))

describe('createOwnership', () => {
  it('assigns every server to one member, regardless of their order', () => {
    fc.assert(
      fc.property(names, fc.string(), (members, server) => {
        const owner = createOwnership(members)(server)
        expect(members).toContain(owner)
        expect(createOwnership([...members].reverse())(server)).toBe(owner)
        expect(createOwnership([...members, ...members])(server)).toBe(owner)
      }),
    )
  })

  it('moves only the servers of a member that leaves', () => {
    fc.assert(
      fc.property(names, fc.nat(), (members, index) => {
        const gone = members[index % members.length] ?? ''
        const rest = members.filter((member) => member !== gone)
        const [before, after] = [createOwnership(members), createOwnership(rest)]
        for (const server of servers.slice(0, 200)) {
          const owner = before(server)
          if (owner !== gone) expect(after(server)).toBe(owner)
        }
      }),
    )
  })

  it('moves only the share of a new member to it', () => {
    const [before, after] = [ownersOf(['a', 'b', 'c']), ownersOf(['a', 'b', 'c', 'd'])]
    const moved = after.filter((owner, index) => owner !== before[index])
    expect(new Set(moved)).toEqual(new Set(['d']))
    expect(moved.length / servers.length).toBeGreaterThan(0.2)
    expect(moved.length / servers.length).toBeLessThan(0.3)
  })

  it.each([
    ['short ids', ['a', 'b', 'c', 'd']],
    ['ids that differ in the last digit', ['tickwarden-7f9c-1', 'tickwarden-7f9c-2', 'tickwarden-7f9c-3']],
    ['ten', Array.from({ length: 10 }, (_, index) => `10.0.0.${index}`)],
  ])('divides servers evenly: %s', (_, members) => {
    const owners = ownersOf(members)
    for (const member of members) {
      const share = owners.filter((owner) => owner === member).length / servers.length
      expect(share * members.length).toBeGreaterThan(0.8)
      expect(share * members.length).toBeLessThan(1.2)
    }
  })

  it('has no owner without members', () => {
    expect(createOwnership([])('survival')).toBeUndefined()
  })
})
