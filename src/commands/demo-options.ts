import type { DemoOptions, DemoProtocol } from '../demo/demo-server.ts'
import { eraNames } from '../demo/eras.ts'
import { softwareNames } from '../demo/identity.ts'
import { scenarioNames } from '../demo/scenarios.ts'
import { integer } from '../settings/kinds/number.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Flag, FlagValues } from './command.ts'

/** The flags of `tickwarden demo`; all are optional. */
export const demoFlags: readonly Flag[] = [
  { name: 'edition', value: 'name', default: 'java', choices: ['java', 'bedrock'], meaning: 'java, or bedrock with status only' },
  { name: 'era', value: 'version', default: '1.21.11', choices: eraNames, meaning: `game version: ${eraNames.join(', ')}` },
  { name: 'software', value: 'name', default: 'vanilla', choices: softwareNames, meaning: softwareNames.join(', ') },
  { name: 'scenario', value: 'name', default: 'normal', choices: scenarioNames, meaning: scenarioNames.join(', ') },
  { name: 'players', value: 'number', default: '5', meaning: 'players online at the start' },
  { name: 'seed', value: 'number', default: '1', meaning: 'the same seed gives the same world' },
  { name: 'decimal-comma', meaning: 'decimal comma in numbers, as in some locales' },
  { name: 'listen', value: 'address', default: '127.0.0.1', meaning: 'address of the demo server' },
  { name: 'status-port', value: 'port', default: 'a free one', meaning: 'port of the status' },
  { name: 'rcon-port', value: 'port', default: 'a free one', meaning: 'port of RCON' },
  { name: 'query-port', value: 'port', default: 'a free one', meaning: 'UDP port of the query' },
  { name: 'management-port', value: 'port', default: 'a free one', meaning: 'port of the management protocol' },
]

export interface DemoCommandOptions extends DemoOptions {
  /** Default `java`. */
  readonly edition?: 'java' | 'bedrock'
}

/** The flags that also apply to a Bedrock server, by name. */
const bedrockFlags: ReadonlySet<string> = new Set(['edition', 'players', 'seed', 'listen', 'status-port'])

const protocols: readonly DemoProtocol[] = ['status', 'rcon', 'query', 'management']

const withoutUndefined = (values: object) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/**
 * The options of the demo server.
 * @param values of the flags, of which those with choices are valid
 * @throws UsageError that names the flag, its value and the expected values
 */
export function toDemoOptions(values: FlagValues): DemoCommandOptions {
  const javaFlag = Object.keys(values).find((name) => !bedrockFlags.has(name))
  if (values.edition === 'bedrock' && javaFlag !== undefined)
    throw new UsageError(`--${javaFlag} applies to the Java edition only`)
  const upTo = (max: number, name: string) => {
    const text = values[name]
    const value = typeof text === 'string' ? integer(0, max).parse(text) : undefined
    if (text !== undefined && value === undefined)
      throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected 0 to ${max}`)
    return value
  }
  const { edition, era, software, scenario, listen: host } = values
  const ports = protocols.map((protocol) => [protocol, upTo(65_535, `${protocol}-port`)] as const)
  return withoutUndefined({
    ...{ edition, era, software, scenario, host },
    players: upTo(5_000, 'players'),
    seed: upTo(4_294_967_295, 'seed'),
    decimalComma: values['decimal-comma'],
    ports: withoutUndefined(Object.fromEntries(ports)),
  })
}
