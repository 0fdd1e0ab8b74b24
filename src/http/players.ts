import { Type } from '../util/schema.ts'

export const Player = Type.Object(
  {
    ID: Type.String({ description: 'Dashed lower-case UUID; empty if only the name is known' }),
    NAME: Type.String(),
  },
  { title: 'Player' },
)

export const Players = Type.Array(Player, { description: 'Sorted by NAME, then ID' })
