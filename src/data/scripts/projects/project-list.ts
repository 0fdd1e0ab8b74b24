import { join, resolve } from 'node:path'
import { isRecord, textAt } from '../../../util/is-record.ts'
import { parseJson } from '../../../util/json.ts'
import { check, type TSchema, Type } from '../../../util/schema.ts'
import type { Project } from '../../databases/projects.ts'
import type { ScriptSettings } from '../script.ts'

export const projectListPath = ({ projectsConfig }: ScriptSettings, dataDir: string): string =>
  projectsConfig === undefined ? join(dataDir, 'projects.config.json') : resolve(projectsConfig)

/** One project of the user's list. Data from GitHub is added to it; only `version` is replaced, by that of the latest release. */
export type ListedProject = Omit<Project, 'languages' | 'last_update' | 'links'> & {
  readonly links: Readonly<Record<string, string | null>>
}

/** Of fields that are missing. The version is used while GitHub has no release; empty: none. */
const defaults: Omit<ListedProject, 'title'> = {
  ...{ description: '', status: '', statuscolor: '', categories: [], gh_api: '', backgroud: '', links: {}, visible: true },
  version: '',
}
const fields = ['title', ...Object.keys(defaults)]

type Expected = readonly [text: string, schema: TSchema]
/** Of fields that are not any string. */
const expectedOf: Readonly<Record<string, Expected>> = {
  categories: ['a list of strings', Type.Array(Type.String())],
  gh_api: ['<owner>/<repository>, or empty', Type.String({ pattern: '^(|[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)$' })],
  links: ['names with URLs, such as {"GH": "https://..."}', Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))],
  visible: ['true or false', Type.Boolean()],
}
const anyString: Expected = ['a string', Type.String()]

/** Fields that the script writes: ignored, so that a published file can be used as the list. */
const ignored = ['languages', 'last_update', 'updated']

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}

function problemsOf(entry: unknown, place: string): string[] {
  if (!isRecord(entry)) return [`${place} is ${shown(entry)}; expected a project`]
  const unknown = Object.keys(entry).filter((key) => !fields.includes(key) && !ignored.includes(key))
  const checked = fields.map((key) => [key, ...(expectedOf[key] ?? anyString)] as const)
  const wrong = checked.filter(([key, , schema]) => !check(schema, entry[key]))
  return [
    ...unknown.map((key) => `${place}.${key}: unknown field; expected one of: ${fields.join(', ')}`),
    ...wrong.map(([key, expected]) => `${place}.${key} is ${shown(entry[key])}; expected ${expected}`),
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
