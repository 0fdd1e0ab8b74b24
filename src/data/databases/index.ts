import type { DatabaseDefinition } from './definition.ts'
import { comebacksDatabase } from './kcomebacks.ts'
import { projectsDatabase } from './projects.ts'

/** The databases that scripts update; those of the configuration are added to them. */
export const databases: readonly DatabaseDefinition[] = [projectsDatabase, comebacksDatabase]
