import { existsSync } from 'node:fs'
import type { RunContext, Script, ScriptSettings } from '../script.ts'
import { projectListPath } from './project-list.ts'

/** Software projects: the user's list, completed with data from GitHub. */
export const projects = {
  name: 'projects',
  route: '/v1/run/projects',
  summary: 'Start the update of the projects',
  parts: 'repositories',
  database: 'projects',
  missingSettings: () => [],
  isConfigured: (settings: ScriptSettings, dataDir: string) =>
    settings.projectsConfig !== undefined || existsSync(projectListPath(settings, dataDir)),
  run: async (context: RunContext) => (await import('./script.ts')).runProjects(context),
} as const satisfies Script
