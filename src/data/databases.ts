import { join } from 'node:path'
import { packageRoot } from '../util/package.ts'
import type { DatabaseDefinition } from './database-definition.ts'
import { registerComebackRoutes } from './routes/comebacks.ts'
import { registerProjectRoutes } from './routes/projects.ts'
import { type Comeback, comebackFormat } from './store/comeback-format.ts'
import { type ComebacksDatabase, comebacksBuilder } from './store/comebacks-database.ts'
import { type Project, projectFormat } from './store/project-format.ts'
import { type ProjectsDatabase, projectsBuilder } from './store/projects-database.ts'

const sample = (file: string): string => join(packageRoot, 'src', 'data', 'sample', file)

export const projectsDatabase: DatabaseDefinition<Project, ProjectsDatabase> = {
  name: 'projects',
  file: 'projects.json',
  setting: 'projectsSnapshot',
  format: projectFormat,
  builder: projectsBuilder,
  tag: { name: 'projects', description: 'A database of software projects' },
  registerRoutes: registerProjectRoutes,
  sample: sample('projects.json'),
}

export const comebacksDatabase: DatabaseDefinition<Comeback, ComebacksDatabase> = {
  name: 'kcomebacks',
  file: 'kcomebacks.json',
  setting: 'kcomebacksSnapshot',
  format: comebackFormat,
  builder: comebacksBuilder,
  tag: { name: 'comebacks', description: 'A database of music releases, dated in KST (UTC+09:00)' },
  registerRoutes: registerComebackRoutes,
  sample: sample('kcomebacks.json'),
}

/** Every database of the data service. */
export const databases: readonly DatabaseDefinition[] = [projectsDatabase, comebacksDatabase]
