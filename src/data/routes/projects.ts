import type { DatabaseRoutes } from '../database-definition.ts'
import type { ProjectsDatabase } from '../store/projects-database.ts'
import { listed, union } from '../store/selection.ts'
import { byDates, byText, everything } from './filter.ts'
import { anyCase, type FilterRoute, registerFilters, registerReply, valueList, valueReply } from './paging.ts'
import { LastUpdateText, ProjectPage, ValueList } from './schemas.ts'

const secondsOfDay = 86_400

/** Path prefix of the routes. */
const root = '/v1/projects'

const filters: readonly FilterRoute<ProjectsDatabase>[] = [
  {
    name: 'getall',
    summary: 'All projects',
    description: 'One page of all visible projects, in the order of the snapshot.',
    filter: everything,
  },
  {
    name: 'lastupdaterange',
    summary: 'Projects by date of the last update',
    description: 'Projects last updated on these UTC days, inclusive. Projects whose time is unknown never match.',
    filter: byDates((db, start, end) => db.lastUpdated.between(start * secondsOfDay, (end + 1) * secondsOfDay - 1)),
  },
  {
    name: 'title',
    summary: 'Projects by title',
    description: `Projects whose title contains the given text. ${anyCase}`,
    filter: byText('title', 'Text to find in the title', 'lantern', (db, text) => listed(db.title.find(text))),
  },
  {
    name: 'description',
    summary: 'Projects by description',
    description: `Projects whose description contains the given text. ${anyCase}`,
    filter: byText('description', 'Text to find in the description', 'sample', (db, text) => listed(db.description.find(text))),
  },
  {
    name: 'search',
    summary: 'Projects by title or description',
    description: `Projects whose title or description contains the given text. ${anyCase}`,
    filter: byText('search', 'Text to find in the title or description', 'fish', (db, text) =>
      listed(union(db.title.find(text), db.description.find(text))),
    ),
  },
  {
    name: 'status',
    summary: 'Projects by status',
    description: `Projects with this status. ${anyCase} \`filter/getstatuses\` lists the statuses.`,
    filter: byText('status', 'The status, exactly', 'beta', (db, text) => listed(db.status.having(text))),
  },
  {
    name: 'statuscolor',
    summary: 'Projects by status color',
    description: `Projects whose status has this color. ${anyCase} \`filter/getcolors\` lists the colors.`,
    filter: byText('statuscolor', 'The color, exactly', 'orange', (db, text) => listed(db.statuscolor.having(text))),
  },
  {
    name: 'category',
    summary: 'Projects by category',
    description: 'Projects with this category. `filter/getcategories` lists the categories.',
    filter: byText('category', 'The category, exactly', 'fabric', (db, text) => listed(db.categories.having(text))),
  },
  {
    name: 'language',
    summary: 'Projects by language',
    description: 'Projects with this language. `filter/getlangs` lists the languages.',
    filter: byText('language', 'The name of the language, exactly', 'Java', (db, text) => listed(db.languages.having(text))),
  },
]

const lists: readonly (readonly [name: string, summary: string, (db: ProjectsDatabase) => readonly string[]])[] = [
  ['getstatuses', 'All statuses', (db) => db.status.values],
  ['getcolors', 'All status colors', (db) => db.statuscolor.values],
  ['getcategories', 'All categories', (db) => db.categories.values],
  ['getlangs', 'All languages', (db) => db.languages.values],
]

/** `/v1/projects/...` */
export function registerProjectRoutes(routes: DatabaseRoutes<ProjectsDatabase>): void {
  const docs = (path: string, summary: string, description: string) => ({ path: `${root}/${path}`, summary, description })
  registerReply(
    routes,
    docs('last_update', 'When the projects were updated', 'The time given in the snapshot.'),
    LastUpdateText,
    (db) => valueReply(db, db.lastUpdate.text),
  )
  registerFilters(routes, root, ProjectPage, filters)
  for (const [name, summary, values] of lists) {
    registerReply(
      routes,
      docs(`filter/${name}`, summary, 'The distinct values of all visible projects, sorted by code point.'),
      ValueList,
      (db) => valueList(db, values(db)),
    )
  }
}
