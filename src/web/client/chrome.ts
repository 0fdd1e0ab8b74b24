import type { ViewContext } from '../view/context.ts'
import { createFormat } from '../view/format.ts'
import { pageTitle } from '../view/summary.ts'
import type { Texts } from '../view/texts/en.ts'
// Replaced by another language in its build: see build.mjs.
import { texts as ownTexts } from '../view/texts/en.ts'
import type { PageData } from '../view/types.ts'
import { required } from './dom.ts'
import { serviceTime } from './request.ts'
import { storeChoice, storedChoice } from './storage.ts'
import type { Connection } from './stream.ts'
import { setUpTips } from './tips.ts'

/** Time at which the service last sent anything, Unix milliseconds by its clock. */
let lastMessage = 0
export const lastMessageAt = (): number => lastMessage

/** The data that the server has put into the page. */
export function readData(): PageData {
  const data = JSON.parse(required('data').textContent ?? '') as PageData
  if ('at' in data) lastMessage = data.at
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

let isCurrent = true
/** False while the service does not answer, or no longer watches the server. */
export const areValuesCurrent = (): boolean => isCurrent
let tab: { readonly title: string; readonly down: number } | undefined

/**
 * Shows whether the values are current; if they are not, the whole page and its tab are marked.
 * @param reason why they are not although the service answers
 */
export function showConnection(connection: Connection, reason?: string): void {
  if (connection !== 'reconnecting') lastMessage = serviceTime()
  const place = required('connection')
  const text = texts.connection[connection]
  place.dataset.state = connection
  if (place.textContent !== text) place.textContent = text
  const notice = required('stale')
  isCurrent = connection !== 'reconnecting' && reason === undefined
  notice.hidden = isCurrent
  if (!isCurrent) notice.textContent = reason ?? texts.stale(format.near(lastMessage, serviceTime()))
  document.documentElement.classList.toggle('offline', !isCurrent)
  drawTab()
}

/** Title and icon of the tab. @param down servers that are down */
export function showTab(title: string, down: number): void {
  tab = { title, down }
  drawTab()
}

function drawTab(): void {
  if (tab === undefined) return
  const text = pageTitle(isCurrent ? tab.down : null, tab.title)
  if (document.title !== text) document.title = text
  const icon = required<HTMLLinkElement>('icon')
  const href = `${root}page/icon${tab.down > 0 ? '-alert' : ''}.svg`
  if (icon.getAttribute('href') !== href) icon.setAttribute('href', href)
}

/** Updates texts such as `3 minutes ago`. */
function tickTimes(): void {
  setInterval(() => {
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
