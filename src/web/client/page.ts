import { pageTitle, totalsOf, viewSummary } from '../view/summary.ts'
import type { FleetPage, PageServer } from '../view/types.ts'
import { createCards, rankOf } from './cards.ts'
import { contextNow, readData, setUpTheme, showConnection, showTab, tickTimes } from './chrome.ts'
import { createControls } from './controls.ts'
import { createSlot, required } from './dom.ts'
import { applyEvent, removedBy } from './model.ts'
import { followEvents } from './stream.ts'
import { setUpTips } from './tips.ts'

/** Minimum time between two sorts of the cards, ms: a list that jumps under the pointer cannot be used. */
const rearrangeAfter = 3_000

function start(data: FleetPage): void {
  let { peak } = data
  let lastMessage = data.at
  let isDrawing = false
  let ranks = ''
  let arrangedAt = 0
  /** True if servers have been added or removed since the cards were arranged. */
  let isIncomplete = false
  const empty = required('empty')
  const drawSummary = createSlot(required('summary'))
  const cards = createCards(data.servers, (next) => {
    peak = next
  })
  const controls = createControls(() => arrange())

  function arrange(): void {
    arrangedAt = Date.now()
    isIncomplete = false
    ranks = rankText(cards.all())
    cards.arrange(controls.arrange(cards.all()))
  }

  function draw(): void {
    isDrawing = false
    const context = contextNow()
    const servers = cards.all()
    const totals = totalsOf(servers, context)
    if (totals.players !== null && totals.players > (peak?.players ?? -1)) peak = { players: totals.players, at: context.now }
    drawSummary(viewSummary(totals, peak, context))
    showTab(pageTitle(totals, context.title), totals.down)
    cards.draw()
    if (empty.hidden !== servers.length > 0) empty.hidden = !empty.hidden
    const moved = controls.followsState() && rankText(servers) !== ranks
    const isDue = isIncomplete || (moved && Date.now() - arrangedAt > rearrangeAfter)
    if (isDue && !isUsed(cards.element)) arrange()
  }

  /** Once per frame, regardless of the number of events. */
  function drawSoon(): void {
    if (isDrawing) return
    isDrawing = true
    requestAnimationFrame(draw)
  }

  arrange()
  required('cards').replaceChildren(cards.element)
  drawSoon()
  setInterval(drawSoon, rearrangeAfter)
  followEvents({
    url: `${contextNow().root}page/events`,
    onEvent(event) {
      lastMessage = Date.now()
      const removed = removedBy(event, cards.all())
      for (const name of removed) cards.delete(name)
      const next = applyEvent(event, cards.get)
      if (next === undefined && removed.length === 0) return
      if (removed.length > 0 || (next !== undefined && cards.get(next.name)?.group !== next.group)) isIncomplete = true
      if (next !== undefined) cards.set(next)
      drawSoon()
    },
    onConnected: (isConnected) => showConnection(isConnected, lastMessage),
  })
}

/** Changes when the order of the cards by health may have changed. */
const rankText = (servers: readonly PageServer[]): string => servers.map(rankOf).join('')

/** True while the keyboard focus or the pointer is in a card. */
const isUsed = (element: Element): boolean =>
  element.contains(document.activeElement) || element.querySelector('article:hover') !== null

setUpTheme()
setUpTips()
tickTimes()
const data = readData()
if (data.kind === 'fleet') start(data)
