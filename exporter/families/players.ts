import { counter, gauge, ofField, type ServerFamily } from './family.ts'

export const players: readonly ServerFamily[] = [
  gauge('minecraft_players_online', 'Players online as reported by the server.', ofField('playersOnline')),
  gauge('minecraft_players_max', 'Maximum number of players as reported by the server.', ofField('playersMax')),
  counter(
    'minecraft_player_joins_total',
    'Players that joined since the service started; requires the full player list or the server log.',
    ({ joins }, add) => add(joins),
    { perPoll: false },
  ),
  counter(
    'minecraft_player_leaves_total',
    'Players that left since the service started; requires the full player list or the server log.',
    ({ leaves }, add) => add(leaves),
    { perPoll: false },
  ),
]
