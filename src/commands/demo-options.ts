import type { DemoOptions, DemoProtocol } from '../demo/demo-server.ts'
import { eraNames } from '../demo/eras.ts'
import { softwareNames } from '../demo/identity.ts'
import { scenarioNames } from '../demo/scenarios.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Flag, FlagValues } from './command.ts'

/** The flags of `tickwarden demo`; all are optional. */
export const demoFlags = [
  { name: 'edition', value: 'name', default: 'java', meaning: 'java, or bedrock with status only' },
  { name: 'era', value: 'version', default: '1.21.11', meaning: `game version: ${eraNames.join(', ')}` },
  { name: 'software', value: 'name', default: 'vanilla', meaning: `${softwareNames.join(', ')}` },
  { name: 'scenario', value: 'name', default: 'normal', meaning: `${scenarioNames.join(', ')}` },
  { name: 'players', value: 'number', default: '5', meaning: 'players online at the start' },
  { name: 'seed', value: 'number', default: '1', meaning: 'the same seed gives the same world' },
  { name: 'decimal-comma', meaning: 'decimal comma in numbers, as in some locales' },
  { name: 'listen', value: 'address', default: '127.0.0.1', meaning: 'address of the demo server' },
  { name: 'status-port', value: 'port', default: 'a free one', meaning: 'port of the status' },
  { name: 'rcon-port', value: 'port', default: 'a free one', meaning: 'port of RCON' },
  { name: 'query-port', value: 'port', default: 'a free one', meaning: 'UDP port of the query' },
  { name: 'management-port', value: 'port', default: 'a free one', meaning: 'port of the management protocol' },
] as const satisfies readonly Flag[]

export interface DemoCommandOptions extends DemoOptions {
  /** Default `java`. */
  readonly edition?: 'java' | 'bedrock'
}

/** The flags that also apply to a Bedrock server, by name. */
const bedrockFlags: ReadonlySet<string> = new Set(['edition', 'players', 'seed', 'listen', 'status-port'])

const protocols: readonly DemoProtocol[] = ['status', 'rcon', 'query', 'management']

function integer(values: FlagValues, name: string, max: number): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (typeof text === 'string' && /^\d{1,10}$/.test(text) && value <= max) return value
  throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected 0 to ${max}`)
}

function oneOf<T extends string>(values: FlagValues, name: string, choices: readonly T[]): T | undefined {
  const text = values[name]
  const found = choices.find((value) => value === text)
  if (text === undefined || found !== undefined) return found
  throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected ${choices.join(', ')}`)
}

/**
 * Parses the flags of the demo server.
 * @throws UsageError that names the flag, its value and the expected values
 */
export function toDemoOptions(values: FlagValues): DemoCommandOptions {
  const edition = oneOf(values, 'edition', ['java', 'bedrock'])
  const javaFlag = Object.keys(values).find((name) => !bedrockFlags.has(name))
  if (edition === 'bedrock' && javaFlag !== undefined) {
    throw new UsageError(`--${javaFlag} applies to the Java edition only`)
  }
  const ports = protocols.map((protocol) => [protocol, integer(values, `${protocol}-port`, 65_535)] as const)
  const options = {
    edition,
    era: oneOf(values, 'era', eraNames),
    software: oneOf(values, 'software', softwareNames),
    scenario: oneOf(values, 'scenario', scenarioNames),
    players: integer(values, 'players', 5_000),
    seed: integer(values, 'seed', 4_294_967_295),
    decimalComma: values['decimal-comma'],
    host: values.listen,
    ports: withoutUndefined(Object.fromEntries(ports)),
  }
  return withoutUndefined(options) as DemoCommandOptions
}

const withoutUndefined = (values: object) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
