import type { Regular } from '../../history/store/session-table.ts'
import { cleanName } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { unknownText } from './format.ts'
import { type Child, h, type ViewElement } from './node.ts'
import { viewDataTable, viewRelative } from './parts.ts'
import type { FoundPlayers, ListedPlayer, ServerDetails, Session } from './types.ts'

/** Maximum number of players listed: thousands of names and heads would take seconds to load. */
export const maxListed = 100

/** A player's head, if the UUID is known. */
const viewHead = ({ ID }: ListedPlayer, { root }: ViewContext): ViewElement =>
  ID === ''
    ? h('span', { class: 'face', 'aria-hidden': 'true' })
    : h('img', {
        class: 'face',
        src: `${root}api/v1/players/${encodeURIComponent(ID)}/head.png?size=32`,
        width: 24,
        height: 24,
        alt: '',
        loading: 'lazy',
      })

const viewName = ({ NAME }: ListedPlayer): ViewElement => h('bdi', { class: 'name' }, cleanName(NAME))

/**
 * The players online, and since when, if known. Empty if the page hides names.
 * @param found the result of a search; absent while there is none, null if it failed
 */
export function viewPlayers(
  { server, listed, sessions }: ServerDetails,
  context: ViewContext,
  found?: FoundPlayers | null,
): ViewElement | undefined {
  const { texts, format, isPublic } = context
  const { players, online, up } = server.state
  if (isPublic === false) return undefined
  const since = new Map(
    (sessions ?? []).flatMap(({ player, from, isOnline }) => (isOnline && from !== null ? [[player.NAME, from]] : [])),
  )
  const list = found === undefined ? { players, total: listed?.total } : found
  const shown = list?.players ?? []
  const others = (list?.total ?? 0) - shown.length
  const whyNone = up === true ? (online === 0 ? texts.server.noPlayers : texts.server.noList) : texts.server.noListDown
  const hasFailed = found === null && players !== null
  return h('section', { class: 'panel online' }, [
    h('div', { class: 'line' }, [
      h('h2', {}, texts.server.playersOnline),
      h('form', { class: 'find', role: 'search', hidden: found === undefined && (listed?.total ?? 0) <= maxListed }, [
        h('input', {
          ...{ id: 'find', type: 'search', maxlength: 100, autocomplete: 'off', spellcheck: 'false' },
          ...{ placeholder: texts.server.findPlayer, 'aria-label': texts.server.findPlayer },
        }),
      ]),
    ]),
    h('p', { class: 'hint', role: 'status', hidden: found === undefined }, [
      hasFailed ? texts.server.searchFailed : found && texts.server.foundPlayers(format.count(found.total)),
    ]),
    shown.length === 0
      ? !hasFailed && h('p', { class: 'none' }, found === undefined || players === null ? whyNone : texts.server.noPlayerFound)
      : h('ul', { class: 'faces', tabindex: 0, 'aria-label': texts.server.playersOnline }, [
          shown.map((player) => {
            const from = since.get(player.NAME)
            return h('li', { key: player.NAME }, [
              viewHead(player, context),
              viewName(player),
              from !== undefined && viewRelative(from, context),
            ])
          }),
        ]),
    others > 0 && h('p', { class: 'others' }, texts.server.otherPlayers(format.count(others))),
  ])
}

/** The past players and the length of their visits. */
export function viewRecent({ sessions }: ServerDetails, context: ViewContext): ViewElement | undefined {
  const { texts } = context
  // The last one to leave first; of some only the start is known.
  const ended = (sessions ?? [])
    .filter(({ isOnline }) => isOnline === false)
    .toSorted((a, b) => (b.to ?? b.from ?? 0) - (a.to ?? a.from ?? 0))
  if (ended.length === 0) return undefined
  return h('section', { class: 'panel' }, [
    h('h2', {}, texts.server.recent),
    h('ul', { class: 'faces', tabindex: 0, 'aria-label': texts.server.recent }, [
      ended.map((session) => viewVisit(session, context)),
    ]),
  ])
}

function viewVisit({ player, from, to }: Session, context: ViewContext): ViewElement {
  const { texts, format } = context
  const length = from === null || to === null ? '' : texts.server.stayed(format.duration(to - from))
  return h('li', {}, [
    viewHead(player, context),
    viewName(player),
    h('span', {}, length),
    to !== null && viewRelative(to, context),
  ])
}

/** Who played in the last seven days, and for how long. */
export function viewRegulars({ regulars }: ServerDetails, context: ViewContext): ViewElement | undefined {
  if (regulars === null || regulars.length === 0) return undefined
  const { regulars: title, regular: columns } = context.texts.server
  const rows = regulars.map((regular) => viewRegular(regular, context))
  return h('section', { class: 'panel regulars' }, [
    h('h2', {}, title),
    viewDataTable(title, Object.values(columns), rows, { style: 'sources' }),
  ])
}

function viewRegular(
  { player, seconds, sessions, firstSeen, lastSeen, online }: Regular,
  context: ViewContext,
): readonly Child[] {
  const { texts, format } = context
  return [
    viewName(player),
    seconds === 0 ? unknownText : format.duration(seconds * 1000),
    format.integer(sessions),
    firstSeen === null ? unknownText : viewRelative(firstSeen, context),
    online ? texts.server.online : viewRelative(lastSeen, context),
  ]
}
