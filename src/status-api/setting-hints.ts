import { type FieldName, type Fields, fieldDescriptions } from '../game/fields.ts'
import { precedence } from '../game/merge.ts'
import { nameSettings, type SettingNames } from '../game/setting-names.ts'
import { descriptorOf } from '../game/sources/descriptor-of.ts'
import type { SourceDescriptor } from '../game/sources/source.ts'

/** The state of a server's sources that hints depend on. */
export interface SourceSituation {
  readonly edition: Fields['edition']
  readonly settingNames?: SettingNames | undefined
  /** Every enabled source: the error code if its last poll failed, else undefined. */
  readonly failures: ReadonlyMap<string, string | undefined>
}

/** What sources provide, for the end of a sentence: `ticks`, `tick rates over 1, 5 and 15 minutes (Paper)`. */
function objectOf(field: FieldName, { requires }: SourceDescriptor): string {
  const required = requires?.[field]
  return required === undefined ? fieldDescriptions[field].label : `${fieldDescriptions[field].label} (${required})`
}

/** `set MC_QUERY to see the map`; sources that provide the same share it. */
function suggestions(field: FieldName, off: readonly SourceDescriptor[]): readonly string[] {
  const objects = [...new Set(off.map((source) => objectOf(field, source)))]
  return objects.map((object) => {
    const settings = off.filter((source) => objectOf(field, source) === object).map(({ hints }) => hints.notConfigured)
    return `set ${settings.join('; or ')} to see ${object}`
  })
}

/**
 * The settings that would provide an unknown field: `set enable-rcon=true and MC_RCON_PASSWORD to see ticks`; for a failing source,
 * what to check. Undefined if every source that can provide it is enabled and does not fail.
 */
export function settingFor(field: FieldName, { edition, settingNames, failures }: SourceSituation): string | undefined {
  // An enabled source may belong to another edition: RCON of a Bedrock server whose software supports it.
  const able = precedence[field]
    .map(descriptorOf)
    .filter(({ name, editions }) => failures.has(name) || editions.includes(edition))
  const failing = able.flatMap((source) => {
    const code = failures.get(source.name)
    if (code === undefined) return []
    return [`${source.name} fails (${code}): check ${source.hints.notConfigured} to see ${objectOf(field, source)}`]
  })
  const off = able.filter(({ name }) => !failures.has(name))
  const text = [...failing, ...suggestions(field, off)].join('; or ')
  return text === '' ? undefined : nameSettings(text, settingNames)
}
