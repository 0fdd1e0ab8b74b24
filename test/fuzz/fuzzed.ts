import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Fuzzed {
  readonly throws?: readonly (new (...args: never) => Error)[]
  /** Valid ones; the changes start from them. */
  readonly examples?: readonly unknown[]
  /** Those that the reader refuses, such as replies with an error; the changes start from them too. */
  readonly refused?: readonly unknown[]
  /** Of a reader whose input cannot grow, or that its case gives less than it reads. */
  readonly run?: (input: never) => unknown
  /** Takes over a millisecond, mostly for a file: gets fewer inputs. */
  readonly isSlow?: true
}

export const fuzz = <T>(
  examples: readonly T[],
  more: Omit<Fuzzed, 'examples' | 'run'> & { readonly run?: (input: T) => unknown } = {},
) => ({ examples, ...more }) as Fuzzed
export const json = (...values: readonly unknown[]): readonly string[] => values.map((value) => JSON.stringify(value))
/** Bytes stay as they are: what a change has put among them may be of another type. */
export const toBytes = (given: unknown): Buffer => (Buffer.isBuffer(given) ? given : Buffer.from(String(JSON.stringify(given))))

export const folder = mkdtempSync(join(tmpdir(), 'tickwarden-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
export const inFile = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
