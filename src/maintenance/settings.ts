import { Cron } from 'croner'
import { duration, type Kind, text, timezone } from '../settings/kinds/index.ts'
import { TreeReader } from '../settings/tree-reader.ts'
import type { Tree } from '../util/yaml.ts'
import type { MaintenanceWindow } from './window.ts'

const maxWindows = 100
const example = '{ servers: [survival], schedule: "0 4 * * *", duration: 30m, reason: backup }'
const keys = ['name', 'servers', 'schedule', 'timezone', 'duration', 'from', 'to', 'reason']

const moment: Kind<number> = {
  expected: 'a time with a time zone, such as 2026-12-01T20:00:00Z',
  parse(given) {
    if (!/^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|z|[+-]\d{2}:\d{2})$/.test(given)) return undefined
    const [at, day] = [Date.parse(given), Date.parse(`${given.slice(0, 10)}T00:00:00Z`)]
    // Date.parse() accepts 30 February, as 2 March.
    const isDay = !Number.isNaN(day) && new Date(day).toISOString().startsWith(given.slice(0, 10))
    return Number.isNaN(at) || !isDay ? undefined : at
  },
}

const cronIn = (zone: string): Kind<string> => ({
  expected: 'a cron expression such as "0 4 * * *" (every day at four)',
  parse(given) {
    try {
      // The parser accepts 30 February, which never occurs, and times as in ISO 8601.
      return /\s/.test(given.trim()) && new Cron(given, { paused: true, timezone: zone }).nextRun() !== null ? given : undefined
    } catch {
      return undefined
    }
  },
})

function readWindow(tree: Tree, place: string, problems: string[]): MaintenanceWindow | undefined {
  if (!(tree instanceof Map)) {
    problems.push(`${place}: expected a window, such as ${example}`)
    return undefined
  }
  const reader = new TreeReader(tree, place, keys, problems)
  const servers = reader.patterns('servers')
  const name = reader.value('name', text)
  const reason = (reader.value('reason', text) ?? name ?? '').slice(0, 200)
  const isScheduled = reader.get('schedule') !== null
  const others = isScheduled ? ['from', 'to'] : ['timezone', 'duration']
  for (const key of others)
    if (reader.get(key) !== null)
      reader.fail(
        key,
        isScheduled ? 'expected either schedule and duration, or from and to' : 'it has no effect without schedule',
      )
  if (isScheduled) {
    const zone = reader.value('timezone', timezone) ?? 'UTC'
    const schedule = reader.value('schedule', cronIn(zone), true)
    const durationMs = reader.value('duration', duration('1m', '7d'), true)
    return schedule === undefined || durationMs === undefined
      ? undefined
      : { servers, reason, time: { schedule, timezone: zone, durationMs } }
  }
  if (reader.get('from') === null && reader.get('to') === null) {
    problems.push(`${place}: expected schedule and duration, or from and to, such as ${example}`)
    return undefined
  }
  const [from, to] = [reader.value('from', moment, true), reader.value('to', moment, true)]
  if (from === undefined || to === undefined) return undefined
  if (to <= from) reader.fail('to', 'it is not after from')
  return { servers, reason, time: { from, to } }
}

/**
 * Reads the value of `maintenance` in the config file.
 * @param path of the file, for messages
 * @param problems receives every mistake
 */
export function readMaintenance(tree: Tree, path: string, problems: string[]): readonly MaintenanceWindow[] {
  if (tree === null) return []
  if (!Array.isArray(tree) || tree.length > maxWindows) {
    problems.push(`${path}: maintenance: expected a list of at most ${maxWindows} windows, such as [${example}]`)
    return []
  }
  const windows = (tree as readonly Tree[]).map((item, index) => readWindow(item, `${path}: maintenance[${index}]`, problems))
  return windows.filter((window) => window !== undefined)
}
