import type { PageServer, ServerState } from '../../src/web/view/types.ts'

const upState: ServerState = {
  ...{ up: true, online: 1, max: 20, players: null, version: '1.21.11', software: 'Paper', motd: null },
  ...{ tickRate: 20, tickTimeMean: 10, tickTimeP99: 12, paused: null, frozen: null, sprinting: null, latency: 12 },
  ...{ responsive: null, asleep: null, worldUpgrade: null, worldUpgradeProgress: null },
}

/** A server on the page that is up, except for the given values. */
export const serverInState = ({
  state = {},
  ...server
}: Partial<Omit<PageServer, 'state'>> & { readonly state?: Partial<ServerState> }): PageServer => ({
  ...{ name: 'survival', group: null, address: null, formattedMotd: null, tickRateTarget: 20, error: null, failing: [] },
  lastContact: null,
  ...server,
  state: { ...upState, ...state },
})
