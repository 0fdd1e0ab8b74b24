import type { RunContext, Script, ScriptSettings } from '../script.ts'

/** Music comebacks from the wiki of r/kpop. */
export const kcomebacks = {
  name: 'kcomebacks',
  route: '/v1/run/kcomebacks',
  summary: 'Start the update of the comebacks',
  parts: 'months',
  database: 'kcomebacks',
  // Without credentials the public pages are used; one setting without the other is a mistake.
  missingSettings({ redditClientId, redditClientSecret }: ScriptSettings) {
    if ((redditClientId === undefined) === (redditClientSecret === undefined)) return []
    return redditClientId === undefined ? ['redditClientId'] : ['redditClientSecret']
  },
  isConfigured: ({ redditClientId }: ScriptSettings) => redditClientId !== undefined,
  run: async (context: RunContext) => (await import('./script.ts')).runKcomebacks(context),
} as const satisfies Script
