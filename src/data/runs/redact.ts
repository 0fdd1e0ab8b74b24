import type { Setting } from '../../config/setting.ts'
import { type SettingName, type SettingValues, settings } from '../../config/settings.ts'
import type { Log } from '../../log.ts'

/** A shorter one cannot be told from ordinary text. */
const shortestSecret = 6

/** Hides the values of all secret settings in a text. Scripts put none there; this is for what they quote. */
export function createRedactor(values: SettingValues): (text: string) => string {
  const names = Object.keys(settings) as readonly SettingName[]
  const secrets = names
    .filter((name) => (settings[name] as Setting<unknown>).secret)
    .map((name) => values[name])
    .filter((value) => typeof value === 'string' && value.length >= shortestSecret)
  const forms = secrets.flatMap((secret) => [String(secret), encodeURIComponent(String(secret))])
  return (text) => forms.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text)
}

/** A log that shows no secret, wherever in a line it stands. */
export function redactedLog(log: Log, redact: (text: string) => string): Log {
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return redact(value)
    if (value instanceof Error) return { type: value.name, message: redact(value.message), stack: redact(value.stack ?? '') }
    if (typeof value !== 'object' || value === null) return value
    if (depth === 0) return undefined
    if (Array.isArray(value)) return value.map((item) => clean(item, depth - 1))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, depth - 1)]))
  }
  const through =
    (level: keyof Log) =>
    (...line: readonly unknown[]) =>
      log[level](...(line.map((part) => clean(part, 5)) as [string]))
  return { debug: through('debug'), info: through('info'), warn: through('warn'), error: through('error') }
}
