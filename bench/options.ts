import { parseArgs } from 'node:util'

/** Reads the options of a bench from the command line, such as `--servers=1000`. The others are those of other benches. */
export function readOptions<Name extends string>(...names: readonly Name[]) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const { values } = parseArgs({ options, strict: false })
  const text = (name: Name): string | undefined => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  return { text, number: (name: Name, otherwise: number): number => Number(text(name) ?? otherwise) }
}
