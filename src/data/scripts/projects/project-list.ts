import { join, resolve } from 'node:path'
import { isRecord, textAt } from '../../../util/is-record.ts'
import { parseJson } from '../../../util/json.ts'
import { check, type Static, Type } from '../../../util/schema.ts'
import type { ScriptSettings } from '../script.ts'

export const projectListPath = ({ projectsConfig }: ScriptSettings, dataDir: string): string =>
  projectsConfig === undefined ? join(dataDir, 'projects.config.json') : resolve(projectsConfig)

/**
 * One project of the user's list. Data from GitHub is added to it; only `version` is replaced, by that of the latest release. A value
 * must be what its description says, else a string.
 */
export const ListedProject = Type.Object(
  {
    title: Type.String(),
    description: Type.String({ default: '' }),
    status: Type.String({ default: '' }),
    statuscolor: Type.String({ default: '' }),
    categories: Type.Array(Type.String(), { default: [], description: 'a list of strings' }),
    gh_api: Type.String({
      ...{ default: '', pattern: '^(|[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)$', description: '<owner>/<repository>, or empty' },
    }),
    backgroud: Type.String({ default: '' }),
    links: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
      ...{ default: {}, description: 'names with URLs, such as {"GH": "https://..."}' },
    }),
    visible: Type.Boolean({ default: true, description: 'true or false' }),
    /** Used while GitHub has no release; empty: none. */
    version: Type.String({ default: '' }),
  },
  { additionalProperties: false },
)
export type ListedProject = Static<typeof ListedProject>

const defaults = Object.fromEntries(
  Object.entries(ListedProject.properties).flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])),
)

/** Fields that the script writes: ignored, so that a published file can be used as the list. */
const ignored = ['languages', 'last_update', 'updated']

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}

function problemsOf(entry: unknown, place: string): string[] {
  if (!isRecord(entry)) return [`${place} is ${shown(entry)}; expected a project`]
  const fields = Object.keys(ListedProject.properties)
  const unknown = Object.keys(entry).filter((key) => !fields.includes(key) && !ignored.includes(key))
  const wrong = Object.entries(ListedProject.properties).filter(([key, schema]) => !check(schema, entry[key]))
  const expected = (schema: object) => ('description' in schema ? schema.description : 'a string')
  return [
    ...unknown.map((key) => `${place}.${key}: unknown field; expected one of: ${fields.join(', ')}`),
    ...wrong.map(([key, schema]) => `${place}.${key} is ${shown(entry[key])}; expected ${expected(schema)}`),
  ]
}

/** Whether an entry is a blank template: an empty title and no repository. Its other fields are ignored. */
function isBlank(entry: unknown): boolean {
  if (!isRecord(entry) || !('title' in entry)) return false
  const { title, gh_api = '' } = entry
  return (title === null || (typeof title === 'string' && title.trim() === '')) && (gh_api === '' || gh_api === null)
}

/**
 * Parses `projects.config.json`: a JSON array of projects.
 * @param name of the file, for messages
 * @returns the projects, and every mistake; with one the list must not be used
 */
export function readProjectList(text: string, name: string) {
  const problems: string[] = []
  const projects: ListedProject[] = []
  const fail = (problem: string) => ({ projects, problems: [`${name} is ${problem}`] })
  let parsed: unknown
  try {
    parsed = parseJson(text)
  } catch (error) {
    const { message, cause } = error as SyntaxError
    return fail(`${message}${cause instanceof Error ? `: ${cause.message}` : ''}`)
  }
  if (!Array.isArray(parsed)) return fail(`${shown(parsed)}; expected an array of projects`)
  const seen = new Map<string, number>()
  for (const [index, given] of (parsed as readonly unknown[]).entries()) {
    if (isBlank(given)) continue
    const place = `${name}: [${index}]`
    const entry = isRecord(given) ? { ...structuredClone(defaults), ...given } : given
    problems.push(...problemsOf(entry, place))
    projects.push(entry as ListedProject)
    const repository = textAt(entry, 'gh_api') || undefined
    if (repository === undefined) continue
    const first = seen.get(repository.toLowerCase())
    if (first === undefined) seen.set(repository.toLowerCase(), index)
    else problems.push(`${place}.gh_api is ${shown(repository)}, the same as [${first}]; expected each repository once`)
  }
  return { projects, problems }
}
