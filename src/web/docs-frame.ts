import { readNames } from './assets.ts'
import type { ShownBrand } from './view/context.ts'
import { createFormat } from './view/format.ts'
import { viewHeader } from './view/layout.ts'
import { h, toHtml } from './view/node.ts'
import { type Language, textsOf } from './view/texts.ts'

/**
 * The HTML of Swagger UI with the bar, the theme and the icon of the other pages, and what makes it accessible.
 * @param root relative path to the page of all servers
 * @param title of the page of all servers
 */
export function frameDocs(html: string, root: string, title: string, language: Language, brand?: ShownBrand): string {
  const assets = readNames(language)
  const { texts } = textsOf(language)
  const asset = (name: string) => `${root}page/assets/${name}`
  const context = { texts, format: createFormat(language, 'UTC'), now: 0, root, title, brand }
  const bar = viewHeader(context)
  // The rest is in English.
  const header = { ...bar, attributes: { ...bar.attributes, lang: language } }
  const head = [
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    h('link', { rel: 'icon', type: 'image/svg+xml', href: `${root}page/icon.svg`, id: 'icon' }),
    ...(brand === undefined ? [] : [h('link', { rel: 'stylesheet', href: root + brand.styles })]),
    h('script', { src: asset(assets['theme.js']) }),
    h('script', { type: 'module', src: asset(assets['docs.js']) }),
  ]
  const main = '<div id="swagger-ui"></div>'
  const back = h('nav', { class: 'crumb', lang: language }, h('a', { href: root || './' }, `← ${texts.backToServers}`))
  return html
    .replace('</head>', () => `${head.map(toHtml).join('')}</head>`)
    .replace(main, () => `${toHtml(header)}${toHtml(back)}<div id="main">${main}</div>`)
}
