import { filtersOf } from '../routes/filter.ts'
import { listRoute } from '../routes/replies.ts'
import { createFormat, type EntryOf, type Fields } from '../store/fields.ts'
import type { DatabaseDefinition } from './definition.ts'

const fields = {
  title: { kind: 'text', required: true, from: ({ title }) => (title === null ? '' : title) },
  description: { kind: 'text' },
  status: { kind: 'text', description: 'For example alpha, beta or release' },
  statuscolor: { kind: 'text' },
  categories: { kind: 'values' },
  languages: { kind: 'amounts', description: 'Bytes of code by language' },
  gh_api: { kind: 'text', description: '<owner>/<repository>' },
  version: { kind: 'text' },
  backgroud: { kind: 'text', description: 'Path of the background image' },
  links: { kind: 'links', description: 'By key: GH, WB, MR, CF' },
  visible: { kind: 'flag', required: true, from: ({ title, visible }) => (title === null || title === '' ? false : visible) },
  last_update: {
    kind: 'seconds',
    description: 'Unix time in seconds; null if it is unknown',
    from: ({ last_update, updated }) => last_update ?? updated,
  },
} as const satisfies Fields

/** One project as served. */
export type Project = EntryOf<typeof fields>

/** projects.json. A project without a title is a blank template, which is never served. */
export const projectFormat = createFormat<Project>({
  title: 'Project',
  fields,
  ignored: ['updated'],
  example: {
    title: 'Lanternfish',
    description: 'Invented sample project: lights that follow the player',
    status: 'beta',
    statuscolor: 'orange',
    categories: ['minecraft', 'fabric'],
    languages: { Java: 48210, Shell: 312 },
    gh_api: 'example/lanternfish',
    version: '0.4.1',
    backgroud: '/backgrounds/lanternfish.png',
    links: { GH: 'https://github.com/example/lanternfish' },
    visible: true,
    last_update: 1700000000,
  },
})

/** The UTC day of the last update, since 1970-01-01. */
const lastDay = (project: object): number | undefined => {
  const { last_update: seconds } = project as Project
  return seconds === null ? undefined : Math.floor(seconds / 86_400)
}
const projects = filtersOf('projects')
const listed = 'values of all visible projects'

export const projectsDatabase: DatabaseDefinition<Project> = {
  name: 'projects',
  noun: 'projects',
  setting: 'projectsSnapshot',
  format: projectFormat,
  tag: { name: 'projects', description: 'A database of software projects' },
  isVisible: ({ visible }) => visible,
  filters: [
    projects.all(', in the order of the snapshot'),
    projects.range(
      ...(['lastupdaterange', 'date of the last update', 'date'] as const),
      'last updated on these UTC days, inclusive. Those whose time is unknown never match.',
      (db) => db.column('days of last_update', lastDay),
    ),
    projects.text('title', 'lantern'),
    projects.text('description', 'sample'),
    projects.text('search', 'fish', ['title', 'description']),
    projects.value('status', { example: 'beta', ignoreCase: true, list: 'getstatuses' }),
    projects.value('statuscolor', { example: 'orange', ignoreCase: true, list: 'getcolors' }),
    projects.value('category', { field: 'categories', example: 'fabric', list: 'getcategories' }),
    projects.value('language', { field: 'languages', example: 'Java', list: 'getlangs' }),
  ],
  replies: [
    listRoute('filter/getstatuses', 'All statuses', 'status', listed),
    listRoute('filter/getcolors', 'All status colors', 'statuscolor', listed),
    listRoute('filter/getcategories', 'All categories', 'categories', listed),
    listRoute('filter/getlangs', 'All languages', 'languages', listed),
  ],
}
