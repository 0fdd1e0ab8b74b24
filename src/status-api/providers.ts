import { type FieldName, type Fields, fieldDescriptions } from '../game/fields.ts'
import { nameSettings, type SettingNames } from '../game/setting-names.ts'
import { precedence } from '../game/snapshot.ts'
import { descriptorOf } from '../game/sources/descriptor-of.ts'
import type { SourceDescriptor } from '../game/sources/source.ts'

/** What a server's sources are, as far as hints depend on it. */
export interface SourceSituation {
  readonly edition: Fields['edition']
  readonly settingNames?: SettingNames | undefined
  /** Every source that is on: undefined unless its last poll failed, else the code of the failure. */
  readonly failures: ReadonlyMap<string, string | undefined>
}

/** What sources give, as a sentence without its subject: `ticks`, `tick rates over 1, 5 and 15 minutes (Paper)`. */
function objectOf(field: FieldName, { requires }: SourceDescriptor): string {
  const required = requires?.[field]
  return required === undefined ? fieldDescriptions[field].label : `${fieldDescriptions[field].label} (${required})`
}

/** `MC_QUERY gives the map`; sources that give it under the same conditions share a verb. */
function givers(field: FieldName, off: readonly SourceDescriptor[]): readonly string[] {
  const objects = [...new Set(off.map((source) => objectOf(field, source)))]
  return objects.map((object) => {
    const settings = off.filter((source) => objectOf(field, source) === object).map(({ hints }) => hints.notConfigured)
    const verb = settings.length > 1 || settings.some((setting) => setting.includes(' and ')) ? 'give' : 'gives'
    return `${settings.join('; or ')} ${verb} ${object}`
  })
}

/**
 * Which settings would give a field that is unknown: `enable-rcon=true and MC_RCON_PASSWORD give ticks`; of a source that is on
 * and fails, what to check. Undefined where every source that can give it is on and does not fail.
 */
export function settingFor(field: FieldName, { edition, settingNames, failures }: SourceSituation): string | undefined {
  // A source that is on may be for another edition: RCON of a Bedrock server whose software has it.
  const able = precedence[field]
    .map(descriptorOf)
    .filter(({ name, editions }) => failures.has(name) || editions.includes(edition))
  const failing = able.flatMap((source) => {
    const code = failures.get(source.name)
    if (code === undefined) return []
    return [`${source.name} fails (${code}) and would give ${objectOf(field, source)}: check ${source.hints.notConfigured}`]
  })
  const off = able.filter(({ name }) => !failures.has(name))
  const text = [...failing, ...givers(field, off)].join('; or ')
  return text === '' ? undefined : nameSettings(text, settingNames)
}
