import { cleanName } from '../view/clean-text.ts'
import { viewServerBody, viewServerHead, viewShare } from '../view/server.ts'
import { pageTitle, totalsOf } from '../view/summary.ts'
import type { ServerDetails } from '../view/types.ts'
import type { Range } from './chart-data.ts'
import { createCharts } from './charts.ts'
import { baseUrl, contextNow, readData, setUpTheme, showConnection, showTab, tickTimes } from './chrome.ts'
import { createSlot, required } from './dom.ts'
import { applyEvent } from './model.ts'
import { type Connection, followEvents } from './stream.ts'
import { setUpTips } from './tips.ts'

/** Sources, visits and uptime are requested again after this time, ms, and soon after a player joins or leaves. */
const reloadAfter = 30_000
const soon = 300

function start(first: ServerDetails, at: number): void {
  let details = first
  let lastMessage = at
  let timer: ReturnType<typeof setTimeout> | undefined
  let connection: Connection = 'reconnecting'
  /** True while the service no longer watches the server. */
  let isRemoved = false
  /** Number of events that have changed the state. */
  let changes = 0
  /** Number of requests sent, and the newest one whose reply has been used. */
  let [sent, used] = [0, 0]
  const { name } = first.server
  const [drawHead, drawBody] = [createSlot(required('head')), createSlot(required('body'))]

  function draw(): void {
    const context = contextNow()
    drawHead(viewServerHead(details, context))
    drawBody(viewServerBody(details, context))
    const totals = totalsOf([details.server], context)
    showTab(pageTitle(totals, `${cleanName(name)} – ${context.title}`), totals.down)
  }

  function showState(): void {
    showConnection(connection, lastMessage, isRemoved ? contextNow().texts.server.removed : undefined)
  }

  function reloadIn(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(reload, ms)
  }

  /** @returns false if the service does not answer */
  async function reload(): Promise<boolean> {
    reloadIn(reloadAfter)
    const [request, changesBefore] = [++sent, changes]
    try {
      const response = await fetch(`${contextNow().root}page/servers/${encodeURIComponent(name)}`)
      const loaded = response.ok ? ((await response.json()) as ServerDetails) : undefined
      if (request < used) return true
      used = request
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
      lastMessage = Date.now()
      details = isOutdated ? { ...loaded, server: details.server } : loaded
      draw()
      return true
    } catch {
      // The page shows elsewhere that the service is unavailable.
      return false
    }
  }

  if (contextNow().isPublic) {
    required('share').replaceChildren()
    createSlot(required('share'))(viewShare(baseUrl(), first, contextNow()))
    setUpCopying()
    createCharts(required('charts'), name, firstRange(first))
  }
  draw()
  reloadIn(reloadAfter)
  followEvents({
    url: `${contextNow().root}page/events?servers=${encodeURIComponent(name)}`,
    onEvent(event) {
      lastMessage = Date.now()
      const server = applyEvent(event, (given) => (given === name ? details.server : undefined))
      if (server !== undefined) {
        changes++
        details = { ...details, server }
        draw()
      }
      if (event.event === 'change' || (event.event === 'snapshot' && !isRemoved)) return
      reloadIn(soon)
    },
    poll: reload,
    onConnection(next) {
      connection = next
      showState()
    },
  })
}

/** One hour if little more is recorded. */
const firstRange = ({ history }: ServerDetails): Range =>
  (history?.parts ?? []).filter((part) => part !== null).length > 4 ? '24h' : '1h'

/** Copies a block, or selects it if the browser does not allow copying (without TLS). */
function setUpCopying(): void {
  const { texts } = contextNow()
  for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      const code = button.closest('.snippet')?.querySelector('code')
      if (code === null || code === undefined) return
      try {
        await navigator.clipboard.writeText(code.textContent ?? '')
        button.textContent = texts.server.copied
        setTimeout(() => {
          button.textContent = texts.server.copy
        }, 2_000)
      } catch {
        getSelection()?.selectAllChildren(code)
      }
    })
  }
}

setUpTheme()
setUpTips()
tickTimes()
const data = readData()
if (data.kind === 'server') start(data.details, data.at)
else required('connection').hidden = true
