import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { describeIncident, type Incident, maxNote, parseIncidentId } from '../history/incidents.ts'
import { stateFolderOf } from '../history/settings.ts'
import { reasonOf } from '../history/store/file-error.ts'
import { fileName } from '../history/store/open-store.ts'
import { escapeControls } from '../util/escape-controls.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call } from './command.ts'

/** How many incidents are listed. */
const maxListed = 100

function noteOf([of, note, ...more]: readonly string[]): { readonly of: string; readonly text: string } {
  const text = note?.trim() ?? ''
  if (of === undefined || text === '') throw new UsageError('expected the name of a server or the ID of an incident, and a text')
  if (more.length > 0) throw new UsageError('the text is more than one argument; put it in quotes')
  if (text.length > maxNote) throw new UsageError(`the text has ${text.length} characters; the maximum is ${maxNote}`)
  if (/\p{Cc}/u.test(text)) throw new UsageError('the text has a line break or another control character')
  return { of, text }
}

/** The name of a server may be that of a list, which may contain anything. */
const linesOf = (incident: Incident): readonly string[] => [
  escapeControls(`${incident.id}  ${new Date(incident.from).toISOString()}  ${describeIncident(incident)}`),
  ...incident.notes.map(({ at, text }) => `  ${new Date(at).toISOString()}  ${text}`),
]

/**
 * `tickwarden incident list|note`: reads or writes the database of the history, also while the service uses it.
 * @returns the exit code
 * @throws UsageError
 */
export async function runIncident(
  { args: [action, ...args] }: Call,
  config: Config,
  { log, error }: Pick<Console, 'log' | 'error'>,
): Promise<number> {
  const note = action === 'note' ? noteOf(args) : undefined
  const folder = stateFolderOf({ ...config.history, ...config.data })
  if (folder === undefined) {
    error('Set HISTORY_DIR or DATA_DIR to the folder of the history.')
    return 4
  }
  const path = join(resolve(folder), fileName)
  if (!existsSync(path)) {
    error(`There is no history yet: ${path} does not exist.`)
    return 1
  }
  const { HistoryStore } = await import('../history/store/store.ts')
  const now = Date.now()
  try {
    const store = new HistoryStore({ path, isReadOnly: note === undefined })
    try {
      if (note === undefined) {
        const unknown = store.incidents.unknownServers(args)
        if (unknown.length > 0) {
          error(`The history has no server ${unknown.map((name) => JSON.stringify(name)).join(', ')}.`)
          return 1
        }
        const servers = args.length > 0 ? { servers: args } : {}
        const found = store.incidents.list({ ...servers, since: 0, limit: maxListed })
        log(found.length === 0 ? 'No incident is recorded.' : found.flatMap(linesOf).join('\n'))
        return 0
      }
      const [key, own] = [parseIncidentId(note.of), { at: now, text: note.text }]
      // A server may have a name like an ID.
      const noted = (key && store.incidents.addNote(key, own)) ?? store.incidents.addNote(note.of, own)
      if (noted === undefined) error(`There is no incident of "${note.of}"; "tickwarden incident list" shows all.`)
      else log(linesOf(noted).join('\n'))
      return noted === undefined ? 1 : 0
    } finally {
      store.close()
    }
  } catch (failure) {
    error(`${path} cannot be ${note === undefined ? 'read' : 'written'}: ${reasonOf(failure)}`)
    return 1
  }
}
