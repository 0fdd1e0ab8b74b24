import type { Setting } from '../../config/setting.ts'
import { type SettingName, settings } from '../../config/settings.ts'
import { escapeControls, escapeControlsInLines } from '../../escape-controls.ts'
import type { Log } from '../../log.ts'
import { createHideSecrets } from '../scripts/hide-secrets.ts'
import type { ScriptSettings } from '../scripts/script.ts'

/** Hides the values of secret settings in a text, in case an upstream repeats one in a message that a script quotes. */
export function createRedactor(values: ScriptSettings): (text: string) => string {
  const names = Object.keys(values) as readonly (keyof ScriptSettings & SettingName)[]
  const secrets = names.filter((name) => (settings[name] as Setting<unknown>).secret).map((name) => values[name])
  return createHideSecrets(secrets.filter((value) => typeof value === 'string'))
}

/** Wraps a log: hides secrets in every part of a line, and escapes control characters. */
export function redactedLog(log: Log, redact: (text: string) => string): Log {
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return escapeControls(redact(value))
    if (typeof value !== 'object' || value === null) return value
    if (depth === 0) return undefined
    if (value instanceof Error) {
      const cause = value.cause === undefined ? {} : { cause: clean(value.cause, depth - 1) }
      return {
        type: value.name,
        message: escapeControls(redact(value.message)),
        stack: escapeControlsInLines(redact(value.stack ?? '')),
        ...cause,
      }
    }
    if (Array.isArray(value)) return value.map((item) => clean(item, depth - 1))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, depth - 1)]))
  }
  const through =
    (level: keyof Log) =>
    (...line: readonly unknown[]) =>
      log[level](...(line.map((part) => clean(part, 5)) as [string]))
  return { debug: through('debug'), info: through('info'), warn: through('warn'), error: through('error') }
}
