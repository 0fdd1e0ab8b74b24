import type { Player as FieldPlayer } from '../game/fields.ts'
import { escapeControls } from '../util/escape-controls.ts'
import { type Static, Type } from '../util/schema.ts'

export const Player = Type.Object(
  {
    ID: Type.String({ description: 'Dashed lower-case UUID; empty if only the name is known' }),
    NAME: Type.String({
      description:
        'Control characters, those that reorder text and halves of surrogate pairs are written as `\\u202e` and the like, and the backslash of a name with such a text as `\\u005c`',
    }),
  },
  { title: 'Player' },
)

export const Players = Type.Array(Player, { description: 'Sorted by NAME, then ID' })

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A name that is safe to show. Nothing is removed: two players would become one. */
const shownName = (name: string): string => escapeControls(name.replace(/\\(?=u[0-9a-f]{4})/g, '\\u005c'))

/** A player in the form of every route. */
export const toPlayer = ({ name, id }: FieldPlayer): Static<typeof Player> => ({ ID: id ?? '', NAME: shownName(name) })

/** Players in the form of every route, sorted by NAME, then ID. */
export const toPlayers = (players: readonly FieldPlayer[]): Static<typeof Player>[] =>
  players.map(toPlayer).sort((a, b) => compare(a.NAME, b.NAME) || compare(a.ID, b.ID))
