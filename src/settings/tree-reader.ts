import type { Tree } from '../util/yaml.ts'
import { closestName } from './closest-name.ts'
import type { Kind } from './kinds/kind.ts'
import { readSecretFile } from './read.ts'

const shown = (tree: Tree | undefined): string =>
  typeof tree === 'string' ? JSON.stringify(tree.slice(0, 60)) : 'missing or not a single value'

function adviseOn(key: string, known: readonly string[]): string {
  // A short name resembles too many others.
  const meant = closestName(key, known, key.length < 5 ? 1 : 2)
  return meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`
}

/** Reads a mapping of the file; every mistake is added to the problems. */
export class TreeReader {
  readonly place: string
  readonly #tree: ReadonlyMap<string, Tree>
  readonly #problems: string[]

  constructor(tree: ReadonlyMap<string, Tree>, place: string, known: readonly string[], problems: string[]) {
    this.place = place
    this.#tree = tree
    this.#problems = problems
    for (const key of tree.keys()) if (!known.includes(key)) this.fail(key, `unknown setting; ${adviseOn(key, known)}`)
  }

  fail(key: string, problem: string): void {
    this.#problems.push(`${this.place}.${key}: ${problem}`)
  }

  get(key: string): Tree {
    return this.#tree.get(key) ?? null
  }

  /** A text that `parse` accepts; undefined if it is missing or wrong. */
  text<T>(key: string, expected: string, parse: (text: string) => T | undefined, isRequired = false): T | undefined {
    const given = this.get(key)
    if (given === null && !isRequired) return undefined
    const value = typeof given === 'string' ? parse(given) : undefined
    if (value === undefined) this.fail(key, `it is ${shown(given ?? undefined)}; expected ${expected}`)
    return value
  }

  /** A text of this kind; undefined if it is missing or wrong. */
  value<T>(key: string, kind: Kind<T>, isRequired = false): T | undefined {
    return this.text(key, kind.expected, kind.parse, isRequired)
  }

  /** A secret, or the content of the file with the path in `<key>File`. It is not shown if it is wrong. */
  secret(key: string, kind: Kind<string>, isRequired = false): string | undefined {
    const [given, path] = [this.get(key), this.get(`${key}File`)]
    if (given !== null && path !== null) this.fail(key, `${key} and ${key}File are both set; remove one of them`)
    if (given === null && path === null) {
      if (isRequired)
        this.fail(key, `it is missing; expected ${kind.expected}, or ${key}File with the path of a file that contains it`)
      return undefined
    }
    const isInFile = given === null && typeof path === 'string'
    const text = isInFile ? readSecretFile(path, (problem) => this.fail(`${key}File`, `it ${problem}`)) : given
    if (isInFile && text === undefined) return undefined
    const value = typeof text === 'string' ? kind.parse(text) : undefined
    if (value === undefined) this.fail(key, `the value (not shown) is not valid; expected ${kind.expected}`)
    return value
  }

  boolean(key: string, otherwise: boolean): boolean {
    const parse = (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined)
    return this.text(key, 'true or false', parse) ?? otherwise
  }

  names(key: string): readonly string[] {
    const given = this.get(key)
    const list = typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given
    if (list === null) return []
    if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list as string[]
    this.fail(key, 'expected a list of names')
    return []
  }

  /**
   * Names of servers or groups; without the key: all. An empty list is refused, also a key with nothing below it: whoever has removed the
   * last name may not expect that.
   */
  patterns(key: string): readonly string[] {
    const given = this.get(key)
    const isEmpty = Array.isArray(given) ? given.length === 0 : given === null && this.#tree.has(key)
    if (isEmpty) this.fail(key, 'expected at least one name; remove the key for all')
    return this.names(key)
  }
}
