import { htmlHeaders } from '../http/replies/reply.ts'
import { createPauses } from '../util/pauses.ts'
import type { AssetNames } from './assets.ts'
import type { Density } from './view/card.ts'
import type { ViewContext } from './view/context.ts'
import { type Child, h, htmlParts, toHtml, type ViewElement } from './view/node.ts'
import type { Tab } from './view/summary.ts'

export interface PageDocument {
  readonly tab: Tab
  readonly body: readonly ViewElement[]
  /** JSON of what the scripts of the page start with. */
  readonly data: string
  readonly assets: AssetNames
  readonly entry: 'page' | 'server'
  readonly density?: Density
  /** The URL for search engines, relative to the page. */
  readonly canonical?: string
  readonly preview?: LinkPreview
  /** The Atom feed of what the page shows, relative to it. */
  readonly feed?: string
}

/** What chats and search engines show of a link to the page. */
export interface LinkPreview {
  /** Absolute URL of the page; absent if the page is the same for every address of the service. */
  readonly url?: string
  readonly title: string
  readonly description: string
  /** Absolute URL of a picture. */
  readonly image?: string
}

const viewPreview = ({ url, title, description, image }: LinkPreview): Child => {
  const property = (name: string, content?: string) => content !== undefined && h('meta', { property: name, content })
  return [
    h('meta', { name: 'description', content: description }),
    property('og:url', url),
    property('og:type', 'website'),
    property('og:title', title),
    property('og:description', description),
    property('og:image', image),
    h('meta', { name: 'twitter:card', content: image === undefined ? 'summary' : 'summary_large_image' }),
  ]
}

/** JSON for a script element: it must not end the element or start a comment. */
export const dataText = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c')

/** Levels of elements from the body to a row of the table of all servers. */
const rowDepth = 6

/**
 * A whole page, without inline scripts and styles, which the content security policy does not allow. A page of thousands of servers
 * is rendered in slices.
 */
export async function renderDocument(
  { tab, body, data, assets, entry, density, canonical, preview, feed }: PageDocument,
  { root, texts, brand }: ViewContext,
): Promise<string> {
  const asset = (name: string) => `${root}page/assets/${name}`
  const style = (href: string) => h('link', { rel: 'stylesheet', href })
  const head = h('head', {}, [
    h('meta', { charset: 'utf-8' }),
    h('title', {}, tab.title),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('meta', { name: 'theme-color', media: '(prefers-color-scheme: light)', content: '#f5f6f8' }),
    h('meta', { name: 'theme-color', media: '(prefers-color-scheme: dark)', content: '#0f1216' }),
    preview && viewPreview(preview),
    canonical !== undefined && h('link', { rel: 'canonical', href: canonical }),
    h('script', { src: asset(assets['theme.js']) }),
    style(asset(assets[`${entry}.css`])),
    brand && style(root + brand.styles),
    h('link', { rel: 'icon', type: 'image/svg+xml', href: `${root}page/${tab.icon}.svg`, id: 'icon' }),
    feed !== undefined &&
      h('link', { rel: 'alternate', type: 'application/atom+xml', title: texts.server.incidents, href: feed }),
    h('link', { rel: 'manifest', href: `${root}page/manifest.webmanifest` }),
    h('script', { type: 'module', src: asset(assets[`${entry}.js`]) }),
    h('noscript', {}, style(asset(assets['plain.css']))),
  ])
  // Not a view: the text of a script is not escaped like other text.
  const script = `<script type="application/json" id="data">${data}</script>`
  let html = `<!doctype html><html lang="${texts.language}"${density === undefined ? '' : ` data-density="${density}"`}>${toHtml(head)}<body>`
  const pauses = createPauses()
  for (const element of body) {
    for (const part of htmlParts(element, rowDepth)) {
      html += part
      if (pauses.isDue()) await pauses.take()
    }
  }
  return `${html}${script}</body></html>`
}

/** The page may load only resources of the service itself, and only its own site may show it in a frame. */
export const securityHeaders = {
  ...htmlHeaders,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'x-content-type-options': 'nosniff',
} as const
