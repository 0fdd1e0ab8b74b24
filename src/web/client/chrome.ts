import type { ViewContext } from '../view/context.ts'
import { createFormat } from '../view/format.ts'
import type { Texts } from '../view/texts/en.ts'
// Replaced by another language in its build: see build.mjs.
import { texts as ownTexts } from '../view/texts/en.ts'
import type { PageData } from '../view/types.ts'
import { required } from './dom.ts'
import { storeChoice, storedChoice } from './storage.ts'
import type { Connection } from './stream.ts'
import { setUpTips } from './tips.ts'

/** The data that the server has put into the page. */
export const readData = (): PageData => JSON.parse(required('data').textContent ?? '') as PageData

const texts: Texts = ownTexts
const { language } = texts
/** The reader's region, if it has the language of the page. */
const locale = navigator.languages.find((name) => name === language || name.startsWith(`${language}-`)) ?? language
const format = createFormat(locale)
const root = document.querySelector<HTMLLinkElement>('#icon')?.getAttribute('href')?.split('page/icon', 1)[0] ?? ''
const title = document.querySelector('.brand span')?.textContent ?? ''
const isPublic = document.querySelector('#main')?.hasAttribute('data-private') === false

export const contextNow = (): ViewContext => ({ texts, format, now: Date.now(), root, title, isPublic })

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

/**
 * Shows whether the values are current; if they are not, the whole page is marked.
 * @param reason why they are not although the service answers
 */
export function showConnection(connection: Connection, lastMessage: number, reason?: string): void {
  const place = required('connection')
  const text = texts.connection[connection]
  place.dataset.state = connection
  if (place.textContent !== text) place.textContent = text
  const notice = required('stale')
  const isCurrent = connection !== 'reconnecting' && reason === undefined
  notice.hidden = isCurrent
  if (!isCurrent) notice.textContent = reason ?? texts.stale(format.near(lastMessage, Date.now()))
  document.documentElement.classList.toggle('offline', !isCurrent)
}

/** Title and icon of the tab. */
export function showTab(text: string, down: number): void {
  if (document.title !== text) document.title = text
  const icon = required<HTMLLinkElement>('icon')
  const href = `${root}page/icon${down > 0 ? '-alert' : ''}.svg`
  if (icon.getAttribute('href') !== href) icon.setAttribute('href', href)
}

/** Updates texts such as `3 minutes ago`. */
function tickTimes(): void {
  setInterval(() => {
    const now = Date.now()
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
