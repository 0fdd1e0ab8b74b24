import { baseOf, type Database } from './database.ts'
import type { LoadedSnapshot } from './load.ts'
import { type NumberColumn, numberColumn } from './number-column.ts'
import type { Project } from './project.ts'
import { fold, type TextColumn, textColumn } from './text-column.ts'
import { type ValueIndex, valueIndex } from './value-index.ts'

/** The projects to be shown, made to be asked: hidden ones are in no reply and in no list of values. */
export interface ProjectsDatabase extends Database {
  readonly title: TextColumn
  readonly description: TextColumn
  readonly status: ValueIndex
  readonly statuscolor: ValueIndex
  readonly categories: ValueIndex
  readonly languages: ValueIndex
  /** Unix seconds. */
  readonly lastUpdated: NumberColumn
}

export async function projectsDatabase(snapshot: LoadedSnapshot<Project>): Promise<ProjectsDatabase> {
  const shown = snapshot.entries.filter(({ visible }) => visible)
  const index = (valuesOf: (project: Project) => readonly string[], key?: (value: string) => string): ValueIndex => {
    const values = valueIndex(key)
    shown.forEach((project, id) => {
      values.add(id, valuesOf(project))
    })
    return values.finish()
  }
  return {
    ...(await baseOf(snapshot, shown)),
    title: textColumn(shown.map(({ title }) => title)),
    description: textColumn(shown.map(({ description }) => description)),
    status: index(({ status }) => [status], fold),
    statuscolor: index(({ statuscolor }) => [statuscolor], fold),
    categories: index(({ categories }) => categories),
    languages: index(({ languages }) => Object.keys(languages)),
    lastUpdated: numberColumn(shown.map(({ last_update }) => last_update ?? undefined)),
  }
}
