import type { DatabaseRoutes } from './database-definition.ts'
import { byDates, byText, everything, type Filter, registerFilter, registerReply, valueList, valueReply } from './paging.ts'
import type { ProjectsDatabase } from './projects-database.ts'
import { LastUpdateText, ProjectPage, ValueList } from './schemas.ts'
import { listed, union } from './selection.ts'

const secondsOfDay = 86_400

const filters: readonly (readonly [name: string, summary: string, Filter<ProjectsDatabase>])[] = [
  ['getall', 'All projects', everything],
  [
    'lastupdaterange',
    'Projects last updated within whole UTC days',
    byDates((db, start, end) => db.lastUpdated.between(start * secondsOfDay, (end + 1) * secondsOfDay - 1)),
  ],
  [
    'title',
    'Projects whose title contains a text, in any letter case',
    byText('title', 'lantern', (db, text) => listed(db.title.find(text))),
  ],
  [
    'description',
    'Projects whose description contains a text, in any letter case',
    byText('description', 'sample', (db, text) => listed(db.description.find(text))),
  ],
  [
    'search',
    'Projects whose title or description contains a text, in any letter case',
    byText('search', 'fish', (db, text) => listed(union(db.title.find(text), db.description.find(text)))),
  ],
  ['status', 'Projects of a status, in any letter case', byText('status', 'beta', (db, text) => listed(db.status.having(text)))],
  [
    'statuscolor',
    'Projects of a status color, in any letter case',
    byText('statuscolor', 'orange', (db, text) => listed(db.statuscolor.having(text))),
  ],
  ['category', 'Projects of a category', byText('category', 'fabric', (db, text) => listed(db.categories.having(text)))],
  ['language', 'Projects written in a language', byText('language', 'Java', (db, text) => listed(db.languages.having(text)))],
]

const lists: readonly (readonly [name: string, summary: string, (db: ProjectsDatabase) => readonly string[]])[] = [
  ['getstatuses', 'Every status', (db) => db.status.values],
  ['getcolors', 'Every status color', (db) => db.statuscolor.values],
  ['getcategories', 'Every category', (db) => db.categories.values],
  ['getlangs', 'Every language', (db) => db.languages.values],
]

/** `/v1/projects/...` */
export function registerProjectRoutes(routes: DatabaseRoutes<ProjectsDatabase>): void {
  registerReply(routes, '/v1/projects/last_update', 'When the projects were updated', LastUpdateText, (db) =>
    valueReply(db, db.lastUpdate.text),
  )
  for (const [name, summary, filter] of filters) {
    registerFilter(routes, `/v1/projects/filter/${name}`, summary, ProjectPage, filter)
  }
  for (const [name, summary, values] of lists) {
    registerReply(routes, `/v1/projects/filter/${name}`, summary, ValueList, (db) => valueList(db, values(db)))
  }
}
