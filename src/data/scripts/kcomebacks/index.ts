import type { Script } from '../script.ts'

/** Music comebacks from the wiki of r/kpop. */
export const kcomebacks: Script = {
  name: 'kcomebacks',
  route: '/v1/run/kcomebacks',
  summary: 'Start the update of the comebacks',
  parts: 'months',
  database: 'kcomebacks',
  // Without credentials the public pages are used; one setting without the other is a mistake.
  missingSettings({ redditClientId, redditClientSecret }) {
    if (redditClientId !== undefined && redditClientSecret === undefined) return ['redditClientSecret']
    if (redditClientId === undefined && redditClientSecret !== undefined) return ['redditClientId']
    return []
  },
  isConfigured: ({ redditClientId }) => redditClientId !== undefined,
  newest: ({ lastUpdate }) => lastUpdate(),
  run: async (context) => (await import('./script.ts')).kcomebacksScript.run(context),
}
