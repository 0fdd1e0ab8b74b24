import type { Player as FieldPlayer } from '../game/fields.ts'
import type { Static } from '../util/schema.ts'
import type { Player } from './players.ts'

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A player in the form of every route. */
export const toPlayer = ({ name, id }: FieldPlayer): Static<typeof Player> => ({ ID: id ?? '', NAME: name })

/** Players in the form of every route, sorted by NAME, then ID. */
export const toPlayers = (players: readonly FieldPlayer[]): Static<typeof Player>[] =>
  players.map(toPlayer).sort((a, b) => compare(a.NAME, b.NAME) || compare(a.ID, b.ID))
