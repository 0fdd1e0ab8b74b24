import type { PageServer, ServerState } from '../../src/web/view/types.ts'

const upState: ServerState = {
  ...{ up: true, online: 1, max: 20, players: null, version: '1.21.11', software: 'Paper', motd: null, formattedMotd: null },
  ...{ tickRate: 20, tickRateTarget: 20, tickTimeMean: 10, tickTimeP99: 12, paused: null, frozen: null, sprinting: null },
  ...{ latency: 12, responsive: null, asleep: null, worldUpgrade: null, worldUpgradeProgress: null },
  ...{ group: null, address: null, failing: [] },
}

/** A server on the page that is up, except for the given values. */
export const serverInState = (state: Partial<ServerState> = {}, more: Partial<Omit<PageServer, 'state'>> = {}): PageServer => ({
  name: 'survival',
  error: null,
  lastContact: null,
  ...more,
  state: { ...upState, ...state },
})
