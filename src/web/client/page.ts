import { fewServers } from '../view/graph.ts'
import { healthOf } from '../view/health.ts'
import { totalsOf, viewSummary } from '../view/summary.ts'
import type { FleetPage, PageServer } from '../view/types.ts'
import { createCards } from './cards.ts'
import { areValuesCurrent, contextNow, lastMessageAt, readData, showConnection, showTab, startPage } from './chrome.ts'
import { createControls } from './controls.ts'
import { createSlot, required } from './dom.ts'
import type { Graph } from './graph.ts'
import { applyEvent, removedBy } from './model.ts'
import { loadJson } from './request.ts'
import { followEvents } from './stream.ts'

/** Minimum time between two sorts of the cards, ms: a list that jumps under the pointer cannot be used. */
const rearrangeAfter = 3_000

function start(data: FleetPage): void {
  let { peak } = data
  let drawing: 'frame' | 'timer' | undefined
  let ranks = ''
  let arrangedAt = 0
  /** True if servers have been added or removed since the cards were arranged. */
  let isIncomplete = false
  const empty = required('empty')
  const drawSummary = createSlot(required('summary'))
  const place = required('cards')
  const cards = createCards(data.servers, place, (next) => {
    peak = next
  })
  const controls = createControls(() => arrange())
  let graph: Graph | undefined
  if (data.servers.length > 0)
    void import('./graph.ts').then(({ createGraph }) => {
      graph = createGraph(required('graph'), data.servers.length <= fewServers)
      drawSoon()
    })

  function arrange(): void {
    arrangedAt = Date.now()
    isIncomplete = false
    ranks = rankText(cards.all())
    controls.show(cards.all())
    cards.arrange(controls.arrange(cards.all()), controls.density())
  }

  function draw(): void {
    drawing = undefined
    const context = contextNow()
    const servers = cards.all()
    const totals = totalsOf(servers, context)
    if (totals.players !== null && totals.players > (peak?.players ?? -1)) peak = { players: totals.players, at: context.now }
    drawSummary(viewSummary(totals, peak, lastMessageAt(), context))
    // What is not known now continues no line.
    if (areValuesCurrent()) graph?.update(servers, totals.players)
    else graph?.update([], null)
    showTab(context.title, totals)
    controls.show(servers)
    cards.draw()
    if (empty.hidden !== servers.length > 0) empty.hidden = !empty.hidden
    const moved = controls.followsState() && rankText(servers) !== ranks
    const isDue = isIncomplete || (moved && Date.now() - arrangedAt > rearrangeAfter)
    if (isDue && !isUsed(cards.element)) arrange()
  }

  /** Once per frame, regardless of the number of events. A hidden page has no frames, but a title and an icon. */
  function drawSoon(): void {
    const next = document.hidden ? 'timer' : 'frame'
    if (drawing === next) return
    drawing = next
    if (next === 'timer') setTimeout(draw)
    else requestAnimationFrame(draw)
  }

  arrange()
  place.replaceChildren(cards.element)
  drawSoon()
  setInterval(drawSoon, rearrangeAfter)
  /** Shows new states of servers, and removes others. */
  function update(changed: readonly PageServer[], removed: readonly string[]): void {
    if (changed.length === 0 && removed.length === 0) return
    for (const name of removed) cards.delete(name)
    if (removed.length > 0 || changed.some(({ name, state }) => cards.get(name)?.state.group !== state.group)) isIncomplete = true
    for (const server of changed) cards.set(server)
    drawSoon()
  }

  followEvents({
    url: `${contextNow().root}page/events`,
    lastId: String(data.lastEventId),
    onEvent(event) {
      const next = applyEvent(event, cards.get)
      update(next === undefined ? [] : [next], removedBy(event, cards.all()))
    },
    async poll() {
      const loaded = await loadJson<FleetPage>('page/servers')
      if (loaded === undefined) return false
      peak = loaded.peak
      const names = new Set(loaded.servers.map(({ name }) => name))
      const removed = cards.all().flatMap(({ name }) => (names.has(name) ? [] : [name]))
      update(loaded.servers, removed)
      return true
    },
    onConnection: (connection) => showConnection(connection),
  })
}

/** Changes when the order of the cards by health may have changed. */
const rankText = (servers: readonly PageServer[]): string => servers.map((server) => healthOf(server, contextNow()).rank).join()

/** True while the keyboard focus or the pointer is in a card. */
const isUsed = (element: Element): boolean =>
  element.contains(document.activeElement) || element.querySelector('article:hover') !== null

startPage()

function startWithData(): void {
  const data = readData<FleetPage>()
  if (data !== null) start(data)
}

// With many servers this takes some time, after which a slow computer would first show anything. A hidden page draws no frames.
if (document.hidden) startWithData()
else requestAnimationFrame(() => setTimeout(startWithData))
