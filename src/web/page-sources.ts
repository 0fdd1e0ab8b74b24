import { type FieldName, fieldDescriptions } from '../game/fields.ts'
import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import { nameSettings } from '../game/setting-names.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { sources } from '../game/sources/index.ts'
import type { SourceDescriptor } from '../game/sources/source.ts'
import type { FieldTexts } from './view/texts/en.ts'
import type { SourceHint, SourceRow } from './view/types.ts'

/** The state of each source of a server; disabled sources have no target. */
export function sourceRows(snapshot: ServerSnapshot): readonly SourceRow[] {
  const states = new Map(snapshot.sources.map((state) => [state.source, state]))
  return sources.map(({ name, title }) => {
    const state = states.get(name)
    return {
      source: title,
      state: state?.state ?? 'off',
      target: state?.target ?? null,
      lastError: state?.lastError ?? null,
    }
  })
}

/**
 * For each source that is off and would provide unknown values of a server, what to set. What to check of one that fails is in its row.
 * @param texts of the fields; default: their labels
 */
export function sourceHints(
  { fields, sources: states }: ServerSnapshot,
  server: ServerSettings,
  texts?: FieldTexts,
): readonly SourceHint[] {
  const edition = addressOf(server)?.edition ?? 'java'
  const isOn = new Set<string>(states.map(({ source }) => source))
  return sources.flatMap(({ name, title, editions, hints, fields: given }: SourceDescriptor) => {
    if (isOn.has(name) || !editions.includes(edition)) return []
    const missing = (Object.keys(given) as FieldName[]).filter(
      (field) => fields[field] === undefined && field !== 'formattedMotd',
    )
    const gives = [...new Set(missing.map((field) => texts?.[field] ?? fieldDescriptions[field].label))]
    return gives.length === 0 ? [] : [{ source: title, set: nameSettings(hints.notConfigured, server.settingNames), gives }]
  })
}
