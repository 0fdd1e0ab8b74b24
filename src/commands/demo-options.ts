import type { DemoOptions, DemoProtocol } from '../demo/demo-server.ts'
import { eraNames } from '../demo/eras.ts'
import { type Software, softwareNames } from '../demo/identity.ts'
import { type ScenarioName, scenarioNames } from '../demo/scenarios.ts'
import { UsageError } from '../util/usage-error.ts'

/** The flags of `tickwarden demo`, in the notation of commander; all are optional. */
export const demoFlags = [
  { flag: '--edition <name>', meaning: 'java, or bedrock with status only [java]' },
  { flag: '--era <version>', meaning: `game version: ${eraNames.join(', ')} [1.21.11]` },
  { flag: '--software <name>', meaning: `${softwareNames.join(', ')} [vanilla]` },
  { flag: '--scenario <name>', meaning: `${scenarioNames.join(', ')} [normal]` },
  { flag: '--players <number>', meaning: 'players online at the start [5]' },
  { flag: '--seed <number>', meaning: 'the same seed gives the same world [1]' },
  { flag: '--decimal-comma', meaning: 'decimal comma in numbers, as in some locales' },
  { flag: '--listen <address>', meaning: 'address of the demo server [127.0.0.1]' },
  { flag: '--status-port <port>', meaning: 'port of the status [a free one]' },
  { flag: '--rcon-port <port>', meaning: 'port of RCON [a free one]' },
  { flag: '--query-port <port>', meaning: 'UDP port of the query [a free one]' },
  { flag: '--management-port <port>', meaning: 'port of the management protocol [a free one]' },
] as const

export interface DemoCommandOptions extends DemoOptions {
  /** Default `java`. */
  readonly edition?: 'java' | 'bedrock'
}

/** The flags as parsed by commander. */
export type DemoFlagValues = Readonly<Record<string, string | boolean | undefined>>

/** The flags that also apply to a Bedrock server, by commander's names. */
const bedrockFlags: ReadonlySet<string> = new Set(['edition', 'players', 'seed', 'listen', 'statusPort'])

const protocols: readonly DemoProtocol[] = ['status', 'rcon', 'query', 'management']

function integer(values: DemoFlagValues, name: string, flag: string, max: number): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (typeof text === 'string' && /^\d{1,10}$/.test(text) && value <= max) return value
  throw new UsageError(`${flag} is ${JSON.stringify(text)}; expected 0 to ${max}`)
}

function oneOf<T extends string>(values: DemoFlagValues, name: string, flag: string, choices: readonly T[]): T | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const found = choices.find((value) => value === text)
  if (found === undefined) throw new UsageError(`${flag} is ${JSON.stringify(text)}; expected ${choices.join(', ')}`)
  return found
}

/**
 * Parses the flags of the demo server.
 * @throws UsageError that names the flag, its value and the expected values
 */
export function toDemoOptions(values: DemoFlagValues): DemoCommandOptions {
  const edition = oneOf<'java' | 'bedrock'>(values, 'edition', '--edition', ['java', 'bedrock'])
  const javaFlag = Object.keys(values).find((name) => !bedrockFlags.has(name))
  if (edition === 'bedrock' && javaFlag !== undefined) {
    throw new UsageError(
      `--${javaFlag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} applies to the Java edition only`,
    )
  }
  const era = oneOf(values, 'era', '--era', eraNames)
  const software = oneOf<Software>(values, 'software', '--software', softwareNames)
  const scenario = oneOf<ScenarioName>(values, 'scenario', '--scenario', scenarioNames)
  const players = integer(values, 'players', '--players', 5_000)
  const seed = integer(values, 'seed', '--seed', 4_294_967_295)
  const ports = protocols.flatMap((protocol) => {
    const port = integer(values, `${protocol}Port`, `--${protocol}-port`, 65_535)
    return port === undefined ? [] : [[protocol, port] as const]
  })
  return {
    ...(edition !== undefined && { edition }),
    ...(era !== undefined && { era }),
    ...(software !== undefined && { software }),
    ...(scenario !== undefined && { scenario }),
    ...(players !== undefined && { players }),
    ...(seed !== undefined && { seed }),
    ...(values.decimalComma === true && { decimalComma: true }),
    ...(typeof values.listen === 'string' && { host: values.listen }),
    ports: Object.fromEntries(ports),
  }
}
