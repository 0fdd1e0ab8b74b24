import { expect, it } from 'vitest'
import { type Addresses, createNameLookup } from '../../../src/game/names/name-lookup.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const first = [{ address: '192.0.2.1', family: 4 }]
const second = [{ address: '192.0.2.2', family: 4 }]

/** A resolver whose answers are the test's, and what asks it. */
function scripted() {
  const clock = manualClock()
  const asked: { readonly host: string; readonly answer: (found: Addresses) => void; readonly fail: (code: string) => void }[] =
    []
  const lookup = createNameLookup({
    clock,
    resolve: (host) =>
      new Promise((resolve, reject) => {
        asked.push({ host, answer: resolve, fail: (code) => reject(Object.assign(new Error(code), { code })) })
      }),
  })
  const known = async (host: string) => {
    const found = lookup(host)
    asked.at(-1)?.answer(first)
    await found
    asked.length = 0
  }
  return { clock, asked, lookup, known }
}

it('asks once for all who want the same name at the same time, and anew after that', async () => {
  const { asked, lookup } = scripted()
  const both = Promise.all([lookup('a'), lookup('a')])
  expect(asked).toHaveLength(1)
  asked[0]?.answer(first)
  expect(await both).toEqual([first, first])
  const later = lookup('a')
  asked[1]?.answer(second)
  expect(await later).toEqual(second)
})

it('goes with the last answer while the next one takes its time, and takes that one when it is there', async () => {
  const { clock, asked, lookup, known } = scripted()
  await known('a')
  const slow = lookup('a')
  await clock.advance(250)
  expect(await slow).toEqual(first)
  const still = lookup('a')
  await clock.advance(250)
  expect(await still).toEqual(first)
  expect(asked).toHaveLength(1)
  asked[0]?.answer(second)
  await clock.advance(0)
  const newest = lookup('a')
  await clock.advance(250)
  expect(await newest).toEqual(second)
  expect(clock.pending).toBe(0)
})

it('goes with the last answer where the name server fails, but not where the name is gone', async () => {
  const { asked, lookup, known } = scripted()
  await known('a')
  const failed = lookup('a')
  asked[0]?.fail('EAI_AGAIN')
  expect(await failed).toEqual(first)
  const gone = lookup('a')
  asked[1]?.fail('ENOTFOUND')
  await expect(gone).rejects.toMatchObject({ code: 'ENOTFOUND' })
  const unknown = lookup('a')
  asked[2]?.fail('EAI_AGAIN')
  await expect(unknown).rejects.toMatchObject({ code: 'EAI_AGAIN' })
})

it('leaves a thread to others: names that get no answer are not asked for all at once, and those that are known do not wait', async () => {
  const { clock, asked, lookup, known } = scripted()
  await known('fine')
  const silent = ['b', 'c', 'd', 'e'].map((host) => lookup(host).catch(() => host))
  expect(asked.map(({ host }) => host)).toEqual(['b', 'c', 'd'])
  const fine = lookup('fine')
  await clock.advance(250)
  expect(await fine).toEqual(first)
  asked[0]?.fail('EAI_AGAIN')
  expect(await silent[0]).toBe('b')
  expect(asked.map(({ host }) => host)).toEqual(['b', 'c', 'd', 'e'])
})
