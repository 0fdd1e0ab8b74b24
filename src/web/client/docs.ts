// The theme of `/docs`, and the attributes that the elements of Swagger UI lack.
import { contextNow, setUpTheme } from './chrome.ts'

const { about, access, close } = contextNow().texts.docsParts
const missing: readonly (readonly [selector: string, attributes: Readonly<Record<string, string | null>>])[] = [
  ['.information-container', { role: 'region', 'aria-label': about }],
  ['.scheme-container', { role: 'region', 'aria-label': access }],
  // The headings of its groups and operations follow the one of the page.
  ['h3.opblock-tag, .models h4, .modal-ux-header h3', { 'aria-level': '2' }],
  ['.opblock h4, .auth-container h4', { 'aria-level': '3' }],
  ['.opblock h5', { 'aria-level': '4' }],
  // Wide examples scroll.
  ['.microlight', { tabindex: '0' }],
  ['.close-modal', { 'aria-label': close }],
  // A label that is not the visible text.
  ['.auth-btn-wrapper .authorize', { 'aria-label': null }],
]

function mend(): void {
  for (const [selector, attributes] of missing)
    for (const element of document.querySelectorAll(selector))
      for (const [name, value] of Object.entries(attributes))
        if (value === null) element.removeAttribute(name)
        else element.setAttribute(name, value)
}

/** Swagger UI has its own class for the dark theme. */
function applyTheme(): void {
  const { theme } = document.documentElement.dataset
  const isDark = theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
  document.documentElement.classList.toggle('dark-mode', isDark)
}

addEventListener('themechange', applyTheme)
setUpTheme()
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
