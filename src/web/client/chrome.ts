import type { ViewContext } from '../view/context.ts'
import { createFormat } from '../view/format.ts'
import { type Totals, tabOf } from '../view/summary.ts'
import type { Texts } from '../view/texts/en.ts'
// Replaced by another language in its build: see build.mjs.
import { texts as ownTexts } from '../view/texts/en.ts'
import { required } from './dom.ts'
import { serviceTime } from './request.ts'
import { storeChoice, storedChoice } from './storage.ts'
import type { Connection } from './stream.ts'
import { setUpTips } from './tips.ts'

/** Time at which the service last sent anything, Unix milliseconds by its clock. */
let lastMessage = 0
export const lastMessageAt = (): number => lastMessage

/** The data that the server has put into the page; null on that of a server that is not watched. */
export function readData<T extends { readonly at: number }>(): T | null {
  const data = JSON.parse(required('data').textContent ?? '') as T | null
  if (data !== null) lastMessage = data.at
  return data
}

const texts: Texts = ownTexts
const { language } = texts
/** The reader's region, if it has the language of the page. */
const locale = navigator.languages.find((name) => name === language || name.startsWith(`${language}-`)) ?? language
const format = createFormat(locale)
const root = document.querySelector<HTMLLinkElement>('#icon')?.getAttribute('href')?.split('page/icon', 1)[0] ?? ''
const title = document.querySelector('.brand span')?.textContent ?? ''
const isPublic = document.querySelector('#main')?.hasAttribute('data-private') === false

export const contextNow = (): ViewContext => ({ texts, format, now: serviceTime(), root, title, isPublic })

/** URL of the service, with a trailing slash. */
export const baseUrl = (): string => new URL(root || './', location.href).href

/** Light, dark or the theme of the system, stored in the browser if it allows that. */
export function setUpTheme(): void {
  const select = required<HTMLSelectElement>('theme')
  const apply = (theme: string) => {
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
    else delete document.documentElement.dataset.theme
    dispatchEvent(new Event('themechange'))
  }
  select.value = storedChoice('tickwarden-theme') ?? 'system'
  apply(select.value)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event('themechange')))
  select.addEventListener('change', () => {
    apply(select.value)
    storeChoice('tickwarden-theme', select.value)
  })
}

/** Time for which a lost connection may be replaced before the values count as old, ms: a stream that ends is soon requested again. */
const grace = 3_000
/** The same for the first connection, from the start of the scripts: in a slow network they are loaded late. */
const firstGrace = 10_000
/**
 * Age from which on the values are old although no connection was lost, ms: those of a machine that was asleep, or of a page that the
 * browser has suspended. A page in the background asks once a minute, by timers that browsers delay by up to another minute.
 */
const maxAge = 150_000

let isCurrent = true
/** False while the service does not answer, or no longer watches the server. */
export const areValuesCurrent = (): boolean => isCurrent
/** Monotonic milliseconds since when there is no connection. */
let lostAt: number | undefined = performance.now() + firstGrace - grace
/** Whether the service has sent anything to the scripts: before, its clock is not known. */
let isHeard = false
/** Why the values are not current although the service answers. */
let outdated: string | undefined
let tab: { readonly title: string; readonly totals: Totals } | undefined

/** @param reason why the values are not current although the service answers */
export function showConnection(connection: Connection, reason?: string): void {
  if (connection === 'reconnecting') lostAt = Math.min(lostAt ?? Number.POSITIVE_INFINITY, performance.now())
  else {
    lostAt = undefined
    isHeard = true
    lastMessage = serviceTime()
  }
  outdated = reason
  const place = required('connection')
  const text = texts.connection[connection]
  place.dataset.state = connection
  if (place.textContent !== text) place.textContent = text
  drawAge()
}

/** Title and icon of the tab. */
export function showTab(title: string, totals: Totals): void {
  tab = { title, totals }
  drawAge()
}

/** Shows whether the values are current; if they are not, the whole page and its tab are marked. */
function drawAge(): void {
  if (tab === undefined) return
  const isLost = lostAt !== undefined && performance.now() - lostAt >= grace
  const isOld = isHeard && serviceTime() - lastMessage >= maxAge
  isCurrent = outdated === undefined && !isLost && !isOld
  const notice = required('stale')
  const ageText = isLost ? texts.stale : texts.old
  const text = isCurrent ? '' : (outdated ?? ageText(format.near(lastMessage, serviceTime())))
  // It is read out by screen readers each time it is set.
  if (notice.textContent !== text) notice.textContent = text
  notice.hidden = isCurrent
  document.documentElement.classList.toggle('offline', !isCurrent)
  const { title, icon } = tabOf(tab.totals, tab.title, isCurrent)
  if (document.title !== title) document.title = title
  const link = required<HTMLLinkElement>('icon')
  const href = `${root}page/${icon}.svg`
  if (link.getAttribute('href') !== href) link.setAttribute('href', href)
}

/** Updates texts such as `3 minutes ago`, and shows when the values become old. */
function tickTimes(): void {
  setInterval(() => {
    drawAge()
    const now = serviceTime()
    for (const element of document.querySelectorAll<HTMLElement>('time[data-relative]')) {
      const text = format.relative(Number(element.dataset.relative), now)
      if (element.firstChild !== null && element.firstChild.nodeValue !== text) element.firstChild.nodeValue = text
    }
  }, 1_000)
}

/** What all pages but `/docs` do. */
export function startPage(): void {
  setUpTheme()
  setUpTips()
  tickTimes()
}
