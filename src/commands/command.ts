import type { Kind } from '../settings/kinds/kind.ts'
import type { Setting } from '../settings/setting.ts'
import { UsageError } from '../util/usage-error.ts'

/** One flag of a command. */
export interface Flag {
  /** Without dashes: `retry-interval`. */
  readonly name: string
  /** What its value is, `duration`; absent for a switch. */
  readonly value?: string
  /** Without the value it is a switch. */
  readonly isValueOptional?: true
  readonly meaning: string
  /** Shown in brackets. */
  readonly default?: string
  /** The valid values, for messages. */
  readonly choices?: readonly string[]
}

export interface Example {
  readonly line: string
  readonly meaning: string
}

/** The values of the flags of a command, by name; true for a switch. */
export type FlagValues = Readonly<Record<string, string | true | undefined>>

/** What a command was called with. */
export interface Call {
  readonly command: Command
  /** All commands, in the order of the help. */
  readonly commands: readonly Command[]
  readonly args: readonly string[]
  readonly flags: FlagValues
  /** The settings given as flags, by environment name (`MC_RCON_PASSWORD_FILE` for the file of a secret). */
  readonly settings: Readonly<Record<string, string>>
  /** Aborted at the first Ctrl+C or SIGTERM; a second one ends the process immediately. */
  readonly stop: AbortSignal
}

/** One command. Parsing, help, completion and documentation are made from it. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** In the order of the command line; only the last may be repeated. */
  readonly args?: readonly {
    readonly name: string
    readonly choices?: readonly string[]
    readonly isOptional?: true
    readonly isRepeated?: true
  }[]
  readonly flags: readonly Flag[]
  /** Settings that are also flags, by flag without dashes. Loaded only if they are needed. */
  readonly settings?: () => Promise<ReadonlyMap<string, Setting<unknown>>>
  /** Receives its arguments as they are, including flags. */
  readonly isRaw?: true
  /** The meaning of each exit code. */
  readonly codes: Readonly<Record<number, string>>
  readonly examples: readonly Example[]
  /** Text at the end of the help. */
  readonly notes?: string
  /** @returns the exit code; undefined if the process ends by itself */
  run(call: Call): Promise<number | undefined>
}

/**
 * The value of a flag, or its default.
 * @throws UsageError that names the flag, its value and the expected values
 */
export function flagValue<T>({ command, flags }: Pick<Call, 'command' | 'flags'>, name: string, kind: Kind<T>): T {
  const text = flags[name] ?? command.flags.find((flag) => flag.name === name)?.default ?? ''
  const value = typeof text === 'string' ? kind.parse(text) : undefined
  if (value === undefined) throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected ${kind.expected}`)
  return value
}
