import type { ServerSnapshot } from '../../src/game/snapshot.ts'

/** The snapshot of a server that is up and of which nothing else is known. */
export const runningServer: ServerSnapshot = {
  server: 'survival',
  at: 1_000,
  up: true,
  lastContact: { at: 1_000, wall: 1_700_000_000_000 },
  fields: {},
  polls: {},
  sources: [],
}
