import { currentFields } from '../../src/game/current-fields.ts'
import type { ServerFamily } from './family.ts'

export const players: readonly ServerFamily[] = [
  {
    name: 'minecraft_players_online',
    type: 'gauge',
    help: 'Players online as reported by the server.',
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(currentFields(snapshot).playersOnline?.value),
  },
  {
    name: 'minecraft_players_max',
    type: 'gauge',
    help: 'Maximum number of players as reported by the server.',
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(currentFields(snapshot).playersMax?.value),
  },
  {
    name: 'minecraft_player_joins_total',
    type: 'counter',
    help: 'Players that joined since the service started; requires the full player list or the server log.',
    labels: [],
    perPoll: false,
    read: ({ joins }, add) => add(joins),
  },
  {
    name: 'minecraft_player_leaves_total',
    type: 'counter',
    help: 'Players that left since the service started; requires the full player list or the server log.',
    labels: [],
    perPoll: false,
    read: ({ leaves }, add) => add(leaves),
  },
]
