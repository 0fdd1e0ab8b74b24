import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics, serialize } from 'node:v8'
import fc from 'fast-check'
import { cpuMsOf, growthOf, isLinear } from '../helpers/growth.ts'
import { changed } from './mutations.ts'
import type { FuzzedReader } from './readers.ts'

/** The inputs of a reader: those kept of earlier runs, then changes of them and of the examples, the same ones for the same seed. */
export interface Inputs {
  readonly examples: readonly unknown[]
  readonly kept: readonly unknown[]
  readonly seed: number
  /** Number of all inputs. */
  readonly count: number
}

export interface Failure {
  readonly input: unknown
  readonly reason: string
}

/** Bytes that every result may have, and how many more for each byte of the input. */
const [fixedBytes, bytesPerByte] = [65_536, 64]
/** Bytes of buffers that an input may take: more than the largest file or reply that a reader accepts. */
const maxBuffers = 64 * 1024 * 1024
/** Milliseconds above which an input is taken for slow, and the slowest one is measured with longer ones of the same kind. */
const slowMs = 50
const slowestCount = 3

export function sizeOf(value: unknown): number {
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

/** Throws unless the reader returns a result of a bounded size, or throws an error of its own, and takes a bounded amount of memory. */
async function check({ run, throws }: FuzzedReader, input: unknown): Promise<void> {
  let result: unknown
  // Memory that is allocated but never written to is not in the size of the process.
  const before = getHeapStatistics().external_memory
  try {
    result = await run(input as never)
  } catch (error) {
    if (!throws.some((own) => error instanceof own)) throw error
  }
  const buffers = getHeapStatistics().external_memory - before
  if (buffers > maxBuffers) throw new Error(`${buffers} bytes of buffers were allocated`)
  // Here an error that the reader has left to nobody ends the process, with this input.
  await setImmediate()
  if (isSmall(result)) return
  const taken = sizeOf(result)
  if (taken <= fixedBytes) return
  const given = sizeOf(input)
  if (taken > fixedBytes + bytesPerByte * given) throw new Error(`${given} bytes became ${taken}`)
}

/** Calls `use` with one input after another until it throws; then with shorter ones that may throw too, unless only the first is wanted. */
const forEachInput = (
  { examples, kept, seed, count }: Inputs,
  use: (input: unknown) => Promise<void>,
  options: { readonly endOnFailure?: boolean } = {},
) =>
  fc.check(fc.asyncProperty(changed([...examples, ...kept]), use), {
    ...{ seed, numRuns: Math.max(count, kept.length), examples: kept.map((input): [unknown] => [input]) },
    ...options,
  })

/** The input with this number, counted from 0. */
export async function inputAt(inputs: Inputs, number: number): Promise<unknown> {
  let [at, found]: [number, unknown] = [0, undefined]
  const find = async (input: unknown) => {
    if (at++ !== number) return
    found = input
    throw new Error('found')
  }
  await forEachInput(inputs, find, { endOnFailure: true })
  return found
}

/** All of the inputs, the smallest of them first. */
export async function sortedInputs(inputs: Inputs): Promise<readonly unknown[]> {
  const all: unknown[] = []
  await forEachInput(inputs, async (input) => void all.push(input))
  return all.toSorted((one, other) => sizeOf(one) - sizeOf(other))
}

/** An input of about `size` characters, bytes or elements: the given one repeated, or itself if that cannot be. */
export function longer(input: unknown, size: number): unknown {
  const times = (length: number) => Math.max(1, Math.ceil(size / Math.max(1, length)))
  if (typeof input === 'string') return input.repeat(times(input.length))
  if (Buffer.isBuffer(input)) return Buffer.concat(Array.from({ length: times(input.length) }, () => input))
  return Array.isArray(input) ? Array.from({ length: times(input.length) }, () => input).flat() : input
}

/**
 * Runs a reader with all of its inputs.
 * @param onInput called before each with its number, which is that of the first one that fails for the shorter ones after it
 * @returns the shortest input that was found to fail, and the slowest ones
 */
export async function runReader(
  reader: FuzzedReader,
  inputs: Inputs,
  onInput: (number: number) => void,
): Promise<{ readonly failure?: Failure; readonly slowest: readonly unknown[] }> {
  const slowest: { readonly input: unknown; readonly number: number; readonly ms: number }[] = []
  let [number, hasFailed] = [0, false]
  const { counterexample, errorInstance } = await forEachInput(inputs, async (input) => {
    onInput(number)
    if (!hasFailed) number++
    const start = performance.now()
    try {
      await check(reader, input)
    } catch (error) {
      hasFailed = true
      throw error
    }
    const ms = performance.now() - start
    if (slowest.length === slowestCount && ms <= slowest.at(-1)!.ms) return
    slowest.push({ input, number: number - 1, ms })
    slowest.sort((one, other) => other.ms - one.ms).splice(slowestCount)
  })
  const slow = slowest.map(({ input }) => input)
  if (counterexample !== null)
    return { failure: { input: counterexample[0], reason: String((errorInstance as Error)?.stack) }, slowest: slow }
  const first = slow[0]
  if (first === undefined) return { slowest: slow }
  onInput(slowest[0]!.number)
  if ((await cpuMsOf(reader.run, first)) < slowMs) return { slowest: slow }
  const ratio = await growthOf({ run: reader.run, maxSize: 32_768, makers: {} }, (size) => longer(first, size))
  if (isLinear(ratio)) return { slowest: slow }
  return { failure: { input: first, reason: `four times the size takes ${ratio?.toFixed(1)} times as long` }, slowest: slow }
}
