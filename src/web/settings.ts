import { headsUrl, integer, oneOf, text } from '../settings/kinds/index.ts'
import { setting } from '../settings/setting.ts'
import { brandLinks, footerText, hexColor, logoFile } from './brand.ts'
import { languageNames } from './view/texts.ts'

export const page = {
  pageTitle: setting({
    env: 'PAGE_TITLE',
    file: 'page.title',
    kind: text,
    default: 'Tickwarden',
    meaning: 'title of the status page',
  }),
  pageLanguage: setting({
    env: 'PAGE_LANGUAGE',
    file: 'page.language',
    kind: oneOf(...languageNames),
    otherwise: "the browser's choice",
    meaning: 'language of the status page',
  }),
  pageLogo: setting({
    env: 'PAGE_LOGO',
    file: 'page.logo',
    kind: logoFile,
    otherwise: 'the watchtower',
    meaning: 'file of the logo and icon of the status page: PNG, WebP or SVG',
  }),
  pageAccent: setting({
    env: 'PAGE_ACCENT',
    file: 'page.accent',
    kind: hexColor,
    otherwise: 'blue',
    meaning: 'colour of links, charts and bars of the status page; made darker or lighter where it would be hard to read',
  }),
  pageFooter: setting({
    env: 'PAGE_FOOTER',
    file: 'page.footer',
    kind: footerText,
    meaning: 'text at the end of the status page',
  }),
  pageLinks: setting({
    env: 'PAGE_LINKS',
    file: 'page.links',
    kind: brandLinks,
    meaning: 'links at the end of the status page, each a label and an https:// URL',
  }),
  pagePublic: setting({
    env: 'PAGE_PUBLIC',
    file: 'page.public',
    kind: oneOf('true', 'false'),
    default: 'true',
    meaning: 'false: the status page hides addresses, player names, icons and sources, which /api/v1 still serves',
  }),
} as const

export const pictures = {
  headsUrl: setting({
    env: 'HEADS_URL',
    file: 'pictures.headsUrl',
    kind: headsUrl,
    otherwise: 'patterns generated from the UUIDs',
    meaning: 'URL of player heads, with {uuid} and optionally {size}',
  }),
} as const

/** The event streams. */
export const live = {
  eventsLimit: setting({
    env: 'EVENTS_LIMIT',
    file: 'events.limit',
    kind: integer(1, 100_000),
    default: '1000',
    meaning: 'maximum number of clients of /api/v1/events; further ones get 503',
  }),
} as const
