import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { growthOf, isLinear } from './helpers/growth.ts'
import { cases, exempt } from './helpers/growth-cases.ts'

const root = join(import.meta.dirname, '..')

/** Names of functions and classes that read what others wrote. */
const reader =
  /^export (?:async )?(?:function\*? |const |class )((?:parse|read|decode|strip|plain|formatted|normalise|accepts|prefers)[A-Z]\w*|negotiate|quoted|(?:create)?\w*(?:Reader|Decoder|Parser|Codec|Collector|Follower|Finder|Anonymiser|Mask|BearerCheck|ProxyCheck))\b/gm

function readersIn(file: string): readonly string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(reader)].map(([, name]) => `${file} ${name}`)
}

const readers = ['src', 'exporter'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => readersIn(join(folder, path))),
)

it('has inputs for each reader, or a reason why not', () => {
  const listed = [...Object.keys(cases), ...Object.keys(exempt)]
  expect(readers.filter((name) => !listed.includes(name))).toEqual([])
  expect(Object.keys(exempt).filter((name) => !readers.includes(name))).toEqual([])
})

it('detects work that grows with the square of the input', async () => {
  const run = (text: string) => Array.from(text, (_, index) => text.slice(0, index).replaceAll('b', 'c'))
  const make = (size: number) => 'ab'.repeat(size / 2)
  expect(isLinear(await growthOf({ maxSize: 1e6, makers: {}, run }, make))).toBe(false)
})

describe('time grows no faster than the input of', () => {
  it.each(Object.keys(cases))('%s', async (name) => {
    const growth = cases[name]!
    for (const [input, make] of Object.entries(growth.makers)) {
      let ratio = await growthOf(growth, make)
      // Once more: a compilation or garbage collection may fall into the larger input. Growth that is not linear fails again.
      if (!isLinear(ratio)) ratio = await growthOf(growth, make)
      expect(isLinear(ratio), `${input}: four times the size takes ${ratio?.toFixed(1)} times as long`).toBe(true)
    }
  })
})
