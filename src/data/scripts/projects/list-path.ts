import { join, resolve } from 'node:path'
import type { ScriptSettings } from '../script.ts'

/** Path of the user's list of projects. */
export const projectListPath = ({ projectsConfig }: ScriptSettings, dataDir: string): string =>
  projectsConfig === undefined ? join(dataDir, 'projects.config.json') : resolve(projectsConfig)
