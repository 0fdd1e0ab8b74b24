import { type Builder, baseBuilder, type Database } from './database.ts'
import { type NumberColumn, numberColumn } from './number-column.ts'
import type { Project } from './project-format.ts'
import { fold, type TextColumn, textColumn } from './text-column.ts'
import { type ValueIndex, valueIndex } from './value-index.ts'

/** The visible projects with an index for each filter. Hidden ones appear neither in replies nor in lists of values. */
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

export function projectsBuilder(): Builder<Project, ProjectsDatabase> {
  const base = baseBuilder<Project>()
  const [title, description] = [textColumn(), textColumn()]
  const [status, statuscolor] = [valueIndex(fold), valueIndex(fold)]
  const [categories, languages] = [valueIndex(), valueIndex()]
  const updated: (number | undefined)[] = []
  return {
    add(project) {
      base.add(project, project.visible)
      if (!project.visible) return
      const id = updated.length
      title.add(project.title)
      description.add(project.description)
      status.add(id, [project.status])
      statuscolor.add(id, [project.statuscolor])
      categories.add(id, project.categories)
      languages.add(id, Object.keys(project.languages))
      updated.push(project.last_update ?? undefined)
    },
    finish: (head) => ({
      ...base.finish(head),
      title: title.finish(),
      description: description.finish(),
      status: status.finish(),
      statuscolor: statuscolor.finish(),
      categories: categories.finish(),
      languages: languages.finish(),
      lastUpdated: numberColumn(updated),
    }),
  }
}
