import type { AssetNames } from './assets.ts'
import type { ViewContext } from './view/context.ts'
import { h, toHtml, type ViewElement } from './view/node.ts'
import type { PageData } from './view/types.ts'

export interface PageDocument {
  readonly title: string
  /** Servers that are down, for the icon. */
  readonly down: number
  readonly body: readonly ViewElement[]
  readonly data: PageData
  readonly assets: AssetNames
  readonly entry: 'page' | 'server'
}

/** JSON within a script element: it must not end the element, nor begin a comment. */
const dataText = (data: PageData): string => JSON.stringify(data).replaceAll('<', '\\u003c')

/** A whole page. Nothing in it runs or styles by itself: the content security policy allows neither. */
export function renderDocument({ title, down, body, data, assets, entry }: PageDocument, { root, texts }: ViewContext): string {
  const asset = (name: string) => `${root}page/assets/${name}`
  const style = (href: string) => h('link', { rel: 'stylesheet', href })
  const head = [
    h('meta', { charset: 'utf-8' }),
    h('title', {}, title),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('meta', { name: 'theme-color', media: '(prefers-color-scheme: light)', content: '#f5f6f8' }),
    h('meta', { name: 'theme-color', media: '(prefers-color-scheme: dark)', content: '#0f1216' }),
    style(asset(assets[`${entry}.css`])),
    h('link', { rel: 'icon', type: 'image/svg+xml', href: `${root}page/icon${down > 0 ? '-alert' : ''}.svg`, id: 'icon' }),
    h('link', { rel: 'manifest', href: `${root}page/manifest.webmanifest` }),
    h('script', { type: 'module', src: asset(assets[`${entry}.js`]) }),
    h('noscript', {}, style(asset(assets['plain.css']))),
  ]
  // No view: a script's text is not escaped as other text is.
  const script = `<script type="application/json" id="data">${dataText(data)}</script>`
  const html = `<html lang="${texts.language}"><head>${head.map(toHtml).join('')}</head><body>${body.map(toHtml).join('')}${script}</body></html>`
  return `<!doctype html>${html}`
}

/** What the page may load: itself, and nothing from elsewhere. */
export const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
} as const
