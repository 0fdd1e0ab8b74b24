import type { Player as FieldPlayer } from '../game/fields.ts'
import { type Static, Type } from '../util/schema.ts'

export const Player = Type.Object(
  {
    ID: Type.String({ description: 'Dashed lower-case UUID; empty if only the name is known' }),
    NAME: Type.String({ description: 'Control characters and those that reorder text are written as `\\u202e` and the like' }),
  },
  { title: 'Player' },
)

export const Players = Type.Array(Player, { description: 'Sorted by NAME, then ID' })

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A player in the form of every route. */
export const toPlayer = ({ name, id }: FieldPlayer): Static<typeof Player> => ({ ID: id ?? '', NAME: name })

/** Players in the form of every route, sorted by NAME, then ID. */
export const toPlayers = (players: readonly FieldPlayer[]): Static<typeof Player>[] =>
  players.map(toPlayer).sort((a, b) => compare(a.NAME, b.NAME) || compare(a.ID, b.ID))
