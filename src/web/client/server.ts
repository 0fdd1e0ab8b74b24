import { firstRange } from '../view/charts.ts'
import { cleanName } from '../view/clean-text.ts'
import { tickBudget } from '../view/health.ts'
import { maxListed } from '../view/players.ts'
import { viewServerBody, viewServerHead, viewServerSources, viewServerVisits, viewShare } from '../view/server.ts'
import { totalsOf } from '../view/summary.ts'
import type { FoundPlayers, ServerDetails, ServerPage } from '../view/types.ts'
import { createCharts } from './charts.ts'
import { baseUrl, contextNow, readData, showConnection, showTab, startPage } from './chrome.ts'
import { create, createSlot, required } from './dom.ts'
import { applyEvent } from './model.ts'
import { applyPlayer, applyToFound } from './player-list.ts'
import { loadJson, request } from './request.ts'
import { type Connection, followEvents } from './stream.ts'
import { createWeek } from './week.ts'

/** Sources, visits and uptime are requested again after this time, ms, and soon after a change that events do not describe. */
const reloadAfter = 60_000
const soon = 300
/** The same times after many players have joined and left, of a list that is shown and of one that is too long. */
const [shortPause, longPause] = [2_000, 90_000]
const searchDelay = 250

function start(first: ServerDetails): void {
  let details = first
  let timer: ReturnType<typeof setTimeout> | undefined
  let connection: Connection = 'reconnecting'
  /** True while the service no longer watches the server. */
  let isRemoved = false
  /** Number of events that have changed the state. */
  let changes = 0
  /** Number of requests sent, and the newest one whose reply has been used. */
  let [sent, used] = [0, 0]
  let reloadedAt = Date.now()
  /** Time of the last event about a player that has been applied, Unix milliseconds. */
  let playersAt = 0
  /** Null if the search failed. */
  let found: FoundPlayers | null | undefined
  let search = ''
  const open = new Set<string>()
  const { name } = first.server
  const path = `${contextNow().root}page/servers/${encodeURIComponent(name)}`
  const [drawHead, drawBody, drawVisits] = [
    createSlot(required('head')),
    createSlot(required('body')),
    createSlot(required('visits')),
  ]
  const drawSources = contextNow().isPublic === false ? undefined : createSlot(required('sources'))

  function draw(): void {
    const context = contextNow()
    drawHead(viewServerHead(details, context))
    drawBody(viewServerBody(details, context, { found, open }))
    drawVisits(viewServerVisits(details, context))
    drawSources?.(viewServerSources(details, context))
    showTab(`${cleanName(name)} – ${context.title}`, totalsOf([details.server], context))
  }

  function showState(): void {
    showConnection(connection, isRemoved ? contextNow().texts.server.removed : undefined)
  }

  function reloadIn(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(reload, ms)
  }

  /** @returns false if the service does not answer */
  async function reload(): Promise<boolean> {
    reloadIn(isLong() ? longPause : reloadAfter)
    reloadedAt = Date.now()
    const [number, changesBefore] = [++sent, changes]
    try {
      const response = await request(path)
      const loaded = response.ok ? ((await response.json()) as ServerDetails) : undefined
      if (number < used) return true
      used = number
      // The reply may be older than an event that has arrived since the request.
      const isOutdated = changes !== changesBefore
      const isMissing = response.status === 404
      if (isMissing && isOutdated) {
        reloadIn(soon)
        return true
      }
      if (isRemoved !== isMissing) {
        isRemoved = isMissing
        showState()
      }
      if (loaded === undefined) return isMissing
      details = merge(loaded, isOutdated)
      draw()
      if (search !== '') void find(search)
      return true
    } catch {
      // The page shows elsewhere that the service is unavailable.
      return false
    }
  }

  /** What was loaded, without what events have changed since. */
  function merge(loaded: ServerDetails, isOutdated: boolean): ServerDetails {
    const state = isOutdated ? details.server : loaded.server
    const isListOutdated = loaded.listed !== null && loaded.listed.at < playersAt
    const { listed, sessions, server } = isListOutdated ? details : loaded
    return { ...loaded, listed, sessions, server: { ...state, state: { ...state.state, players: server.state.players } } }
  }

  const isLong = () => (details.listed?.total ?? 0) > maxListed

  function reloadPlayers(): void {
    reloadIn(Math.max(soon, reloadedAt + (isLong() ? longPause : shortPause) - Date.now()))
  }

  async function find(text: string): Promise<void> {
    search = text
    const loaded = text === '' ? undefined : await loadJson<FoundPlayers>(`${path}/players?search=${encodeURIComponent(text)}`)
    if (search !== text) return
    found = text === '' ? undefined : (loaded ?? null)
    draw()
  }

  let searching: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.id !== 'find') return
    clearTimeout(searching)
    searching = setTimeout(() => find(target.value.trim()), searchDelay)
  })
  document.addEventListener('submit', (event) => event.preventDefault())
  // This event does not bubble.
  const body = required('body')
  body.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement)) return
      if (target.open) open.add(target.dataset.table ?? '')
      else open.delete(target.dataset.table ?? '')
      draw()
    },
    true,
  )

  if (contextNow().isPublic) {
    required('share').replaceChildren(create(viewShare(baseUrl(), first, contextNow())))
    setUpCopying()
    createCharts(required('charts'), name, firstRange(first), () => tickBudget(details.server).budget)
  }
  createWeek(required('week'), `${path}/week`)
  draw()
  reloadIn(reloadAfter)
  followEvents({
    url: `${contextNow().root}page/events?servers=${encodeURIComponent(name)}`,
    onEvent(event) {
      const server = applyEvent(event, (given) => (given === name ? details.server : undefined))
      if (server !== undefined) {
        changes++
        // The players and their visits are not known any more, or again.
        if (server.state.up !== details.server.state.up) reloadIn(soon)
        details = { ...details, server }
        draw()
      }
      if (event.event === 'join' || event.event === 'leave') {
        const message = JSON.parse(event.data)
        playersAt = message.at
        details = applyPlayer(details, event.event, message)
        if (found != null) found = applyToFound(found, search, event.event, message)
        draw()
      } else if (event.event === 'players') reloadPlayers()
      else if (event.event !== 'change' && (event.event !== 'snapshot' || isRemoved)) reloadIn(soon)
    },
    poll: reload,
    onConnection(next) {
      connection = next
      showState()
    },
  })
}

/** Copies a text, or selects it if the browser does not allow copying (without TLS). */
function setUpCopying(): void {
  const { texts } = contextNow()
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('button.copy') : null
    const code = button?.closest('.snippet, .join')?.querySelector('code')
    const label = button?.firstChild
    if (!label || !code) return
    try {
      await navigator.clipboard.writeText(code.textContent ?? '')
      label.nodeValue = texts.server.copied
      required('said').textContent = texts.server.copied
      setTimeout(() => {
        label.nodeValue = texts.server.copy
        required('said').textContent = ''
      }, 2_000)
    } catch {
      getSelection()?.selectAllChildren(code)
    }
  })
}

startPage()
const data = readData<ServerPage>()
if (data !== null) start(data.details)
else required('connection').hidden = true
