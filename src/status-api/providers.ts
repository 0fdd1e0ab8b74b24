import { type FieldName, type Fields, fieldDescriptions } from '../game/fields.ts'
import { precedence } from '../game/snapshot.ts'
import { descriptorOf } from '../game/sources/index.ts'
import type { SourceName } from '../game/sources/source.ts'

/** What a server's sources are, as far as hints depend on it. */
export interface SourceSituation {
  readonly edition: Fields['edition']
  /** Every source that is on: undefined unless its last poll failed, else the code of the failure. */
  readonly failures: ReadonlyMap<SourceName, string | undefined>
}

/**
 * Which settings would give a field that is unknown: `enable-rcon=true and MC_RCON_PASSWORD give ticks`; of a source that is on
 * and fails, what to check. Undefined where every source that can give it is on and answers.
 */
export function settingFor(field: FieldName, { edition, failures }: SourceSituation): string | undefined {
  const { label, requires } = fieldDescriptions[field]
  const able = precedence[field].filter((source) => descriptorOf(source).editions.includes(edition))
  const [first, ...others] = able
    .filter((source) => !failures.has(source))
    .map((source) => descriptorOf(source).hints.notConfigured)
  const verb = first?.includes(' and ') || others.length > 0 ? 'give' : 'gives'
  const place = requires === undefined ? '' : ` (${requires})`
  const off = first === undefined ? [] : [`${[first, ...others].join('; or ')} ${verb} ${label}${place}`]
  const failing = able.flatMap((source) => {
    const code = failures.get(source)
    return code === undefined
      ? []
      : [`${source} fails (${code}) and would give ${label}${place}: check ${descriptorOf(source).hints.notConfigured}`]
  })
  return [...failing, ...off].join('; or ') || undefined
}
