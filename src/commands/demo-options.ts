import type { DemoOptions, DemoProtocol } from '../demo/demo-server.ts'
import { eraNames } from '../demo/eras.ts'
import { type Software, softwareNames } from '../demo/identity.ts'
import { type ScenarioName, scenarioNames } from '../demo/scenarios.ts'
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

function integer(values: FlagValues, name: string, flag: string, max: number): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (typeof text === 'string' && /^\d{1,10}$/.test(text) && value <= max) return value
  throw new UsageError(`${flag} is ${JSON.stringify(text)}; expected 0 to ${max}`)
}

function oneOf<T extends string>(values: FlagValues, name: string, flag: string, choices: readonly T[]): T | undefined {
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
export function toDemoOptions(values: FlagValues): DemoCommandOptions {
  const edition = oneOf<'java' | 'bedrock'>(values, 'edition', '--edition', ['java', 'bedrock'])
  const javaFlag = Object.keys(values).find((name) => !bedrockFlags.has(name))
  if (edition === 'bedrock' && javaFlag !== undefined) {
    throw new UsageError(`--${javaFlag} applies to the Java edition only`)
  }
  const era = oneOf(values, 'era', '--era', eraNames)
  const software = oneOf<Software>(values, 'software', '--software', softwareNames)
  const scenario = oneOf<ScenarioName>(values, 'scenario', '--scenario', scenarioNames)
  const players = integer(values, 'players', '--players', 5_000)
  const seed = integer(values, 'seed', '--seed', 4_294_967_295)
  const ports = protocols.flatMap((protocol) => {
    const port = integer(values, `${protocol}-port`, `--${protocol}-port`, 65_535)
    return port === undefined ? [] : [[protocol, port] as const]
  })
  return {
    ...(edition !== undefined && { edition }),
    ...(era !== undefined && { era }),
    ...(software !== undefined && { software }),
    ...(scenario !== undefined && { scenario }),
    ...(players !== undefined && { players }),
    ...(seed !== undefined && { seed }),
    ...(values['decimal-comma'] === true && { decimalComma: true }),
    ...(typeof values.listen === 'string' && { host: values.listen }),
    ports: Object.fromEntries(ports),
  }
}
