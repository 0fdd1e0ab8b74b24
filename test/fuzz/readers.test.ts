import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMsOf, growthOf, isLinear } from '../helpers/growth.ts'
import { changed } from './mutations.ts'
import { type FuzzedReader, readers } from './readers.ts'

/** Inputs for each reader; `npm run fuzz` sets more. */
const runs = Number(process.env.FUZZ_RUNS ?? 2_000)
/** One for all readers, so that one number repeats everything. */
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const corpus = join(import.meta.dirname, 'corpus')
/** Bytes that every result may have, and how many more for each byte of the input. */
const [fixedBytes, bytesPerByte] = [65_536, 64]
/** Milliseconds above which an input is taken for slow, and the slowest one is measured with longer ones of the same kind. */
const slowMs = 50

/** Bytes become base64, as JSON has none. */
const toText = (input: unknown): string =>
  JSON.stringify(input, function (this: Record<string, unknown>, key, value) {
    return Buffer.isBuffer(this[key]) ? { base64: this[key].toString('base64') } : value
  })
const fromText = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value?.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value))

const sizeOf = (value: unknown): number => {
  try {
    return serialize(value).length
  } catch {
    // Functions and sockets have no bytes of their own.
    return 0
  }
}

/** Whether a result certainly has fewer than `fixedBytes`, without serialising it, which takes longer than most readers. */
const isSmall = (value: unknown): boolean =>
  typeof value === 'string' ? value.length < fixedBytes / 4 : value === null || typeof value !== 'object'

const longer = (input: unknown, size: number): unknown => {
  const times = (length: number) => Math.max(1, Math.ceil(size / Math.max(1, length)))
  if (typeof input === 'string') return input.repeat(times(input.length))
  if (Buffer.isBuffer(input)) return Buffer.concat(Array.from({ length: times(input.length) }, () => input))
  return Array.isArray(input) ? Array.from({ length: times(input.length) }, () => input).flat() : input
}

/**
 * Throws unless the reader returns a result of a bounded size, or throws an error of its own.
 * @returns CPU milliseconds; 0 if it took less time than `slowMs`
 */
async function check({ run, throws }: FuzzedReader, input: unknown): Promise<number> {
  const start = performance.now()
  let result: unknown
  try {
    result = await run(input as never)
  } catch (error) {
    if (!throws.some((own) => error instanceof own)) throw error
  }
  // To ask for the CPU time takes longer than most inputs.
  const ms = performance.now() - start < slowMs ? 0 : await cpuMsOf(run, input)
  if (isSmall(result)) return ms
  const taken = sizeOf(result)
  if (taken <= fixedBytes) return ms
  const given = sizeOf(input)
  if (taken > fixedBytes + bytesPerByte * given) throw new Error(`${given} bytes became ${taken}`)
  return ms
}

const fileOf = (name: string): string => join(corpus, `${name.replaceAll(/\W+/g, '-')}.jsonl`)

it('keeps inputs of no reader that is gone', () => {
  const files = Object.keys(readers).map(fileOf)
  expect(readdirSync(corpus).filter((file) => !files.includes(join(corpus, file)))).toEqual([])
})

console.log(`FUZZ_SEED=${seed}`)

describe(`seed ${seed}`, () => {
  it.each(Object.keys(readers))('%s', async (name) => {
    const reader = readers[name]!
    for (const example of reader.examples.slice(0, reader.validCount)) await reader.run(example as never)
    const file = fileOf(name)
    const kept = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').map(fromText) : []
    let slowest: { readonly input: unknown; readonly ms: number } = { input: undefined, ms: slowMs }
    const property = fc.asyncProperty(changed([...reader.examples, ...kept]), async (input) => {
      const ms = await check(reader, input)
      if (ms > slowest.ms) slowest = { input, ms }
    })
    const numRuns = Math.ceil(runs / (reader.isSlow ? 20 : 1))
    for (const input of kept) await check(reader, input)
    const { counterexample, errorInstance } = await fc.check(property, { seed, numRuns })
    if (counterexample !== null) {
      const text = toText(counterexample[0])
      // Kept for the next run; it stays in the repository once the reader is mended.
      if (process.env.FUZZ_KEEP !== undefined) {
        mkdirSync(corpus, { recursive: true })
        writeFileSync(file, `${text}\n`, { flag: 'a' })
      }
      throw new Error(`FUZZ_SEED=${seed}: ${name} failed for ${text}`, { cause: errorInstance })
    }
    if (slowest.input === undefined) return
    const growth = { run: reader.run, maxSize: 32_768, makers: {} }
    const ratio = await growthOf(growth, (size) => longer(slowest.input, size))
    expect(isLinear(ratio), `takes too long: ${toText(slowest.input)}`).toBe(true)
  })
})
