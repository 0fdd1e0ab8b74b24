import { live, type ServerFamily, single } from './family.ts'

export const players: readonly ServerFamily[] = [
  {
    name: 'minecraft_players_online',
    type: 'gauge',
    help: 'Players that the server says are online.',
    labels: [],
    perPoll: true,
    read: (snapshot) => single(live(snapshot).playersOnline?.value),
  },
  {
    name: 'minecraft_players_max',
    type: 'gauge',
    help: 'Players that the server lets in at most.',
    labels: [],
    perPoll: true,
    read: (snapshot) => single(live(snapshot).playersMax?.value),
  },
  {
    name: 'minecraft_player_joins_total',
    type: 'counter',
    help: 'Players seen to join since the service started; only where the full player list or the log is known.',
    labels: [],
    perPoll: false,
    read: ({ joins }) => single(joins),
  },
  {
    name: 'minecraft_player_leaves_total',
    type: 'counter',
    help: 'Players seen to leave since the service started; only where the full player list or the log is known.',
    labels: [],
    perPoll: false,
    read: ({ leaves }) => single(leaves),
  },
]
