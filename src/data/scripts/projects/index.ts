import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Script, ScriptSettings } from '../script.ts'

/** Path of the user's list of projects. */
export const projectListPath = ({ projectsConfig }: ScriptSettings, dataDir: string): string =>
  projectsConfig === undefined ? join(dataDir, 'projects.config.json') : resolve(projectsConfig)

/** Software projects: the user's list, completed with data from GitHub. */
export const projects: Script = {
  name: 'projects',
  route: '/v1/run/projects',
  summary: 'Start the update of the projects',
  parts: 'repositories',
  database: 'projects',
  missingSettings: () => [],
  isConfigured: (settings, dataDir) => settings.projectsConfig !== undefined || existsSync(projectListPath(settings, dataDir)),
  newest: ({ lastUpdate }) => lastUpdate(),
  run: async (context) => (await import('./script.ts')).createProjectsScript().run(context),
}
