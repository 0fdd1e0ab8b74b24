import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { prepare } from '../http/replies/reply.ts'
import { type Kind, list, url } from '../settings/kinds/index.ts'
import { readFileUpToSync } from '../util/files.ts'
import { pictureType } from '../util/picture-type.ts'
import { addReply } from './assets.ts'
import { cleanName, cleanText } from './view/clean-text.ts'
import type { ShownBrand } from './view/context.ts'
import { readable } from './view/contrast.ts'

export interface Logo {
  readonly type: 'image/png' | 'image/webp' | 'image/svg+xml'
  readonly bytes: Buffer
}
type BrandLink = NonNullable<ShownBrand['links']>[number]

export interface Brand {
  readonly logo?: Logo | undefined
  readonly accent?: string | undefined
  readonly footer?: string | undefined
  readonly links?: readonly BrandLink[] | undefined
}

const maxLogo = 128 * 1024
const [maxFooter, maxLabel, maxLinks] = [500, 40, 12]

/** By the content of the file: its name may be wrong, and it may be cut off. */
function logoType(bytes: Buffer): Logo['type'] | undefined {
  const type = pictureType(bytes)
  const kind = bytes.toString('latin1', 12, 16)
  if (type === 'png') return kind === 'IHDR' && bytes.includes('IEND') ? 'image/png' : undefined
  if (type === 'webp') {
    const isWhole = bytes.length > 20 && bytes.length >= bytes.readUInt32LE(4) + 8
    return isWhole && /^VP8[ LX]$/.test(kind) ? 'image/webp' : undefined
  }
  const [start = '', ...rest] = bytes.toString().split('<!--')
  const text = [start, ...rest.map((part) => part.split('-->')[1] ?? '')].join('')
  // A browser shows an SVG only with its namespace.
  const [root] = /<[a-z][^\s/>]*/i.exec(text) ?? []
  return root === '<svg' && text.includes('</svg') && text.includes('http://www.w3.org/2000/svg') ? 'image/svg+xml' : undefined
}

export const logoFile: Kind<Logo> = {
  isLocal: true,
  example: '/srv/logo.svg',
  expected: `the path of a readable PNG, WebP or SVG file of at most ${maxLogo / 1024} KiB`,
  parse(given) {
    try {
      // A named pipe would be waited for.
      if (!statSync(given).isFile()) return undefined
      const bytes = readFileUpToSync(given, maxLogo)
      const type = logoType(bytes)
      return type && { type, bytes }
    } catch {
      return undefined
    }
  },
}

export const hexColor: Kind<string> = {
  example: '"#c2410c"',
  expected: 'a colour as # with 3 or 6 hexadecimal digits, such as #c2410c',
  parse(given) {
    const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/.exec(given.trim().toLowerCase())?.[1]
    return digits && `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`
  },
}

export const footerText: Kind<string> = {
  example: 'Hosted by Example',
  expected: `a text of 1 to ${maxFooter} characters`,
  parse(given) {
    const text = cleanText(given).trim()
    return text.length > maxFooter ? undefined : text || undefined
  },
}

const brandLink: Kind<BrandLink> = {
  example: 'Discord https://discord.example.org',
  expected: `a label of at most ${maxLabel} characters and a URL that starts with https://, without a user name or password, such as Discord https://discord.example.org`,
  parse(given) {
    const words = given.trim().split(/\s+/)
    const href = url('https:').parse(words.pop() ?? '')
    const label = cleanText(words.join(' ')).trim()
    if (label === '' || label.length > maxLabel || href === undefined) return undefined
    const { username, password } = new URL(href)
    return username === '' && password === '' ? { label: cleanName(label), href } : undefined
  },
}

const anyLinks = list(brandLink)
export const brandLinks: typeof anyLinks = {
  ...anyLinks,
  expected: `${anyLinks.expected}; at most ${maxLinks}`,
  parse(given) {
    const links = anyLinks.parse(given)
    return links && links.length <= maxLinks ? links : undefined
  },
}

/** The grounds of text in the accent colour that contrast least with it, and the text that it is mixed with: see palette.css. */
const grounds = { light: { background: '#e2e5ea', text: '#1a1f27' }, dark: { background: '#272d36', text: '#e8ebf0' } }

const footerStyles = `.foot{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;max-width:97.5rem;margin:0 auto;padding:0 1rem 2rem;color:var(--muted);overflow-wrap:anywhere}.foot p{margin:0}.foot a{color:var(--accent);text-decoration:underline}.logo{object-fit:contain}`

function stylesOf({ accent }: Brand): string {
  if (accent === undefined) return footerStyles
  const [light, dark] = [readable(accent, grounds.light), readable(accent, grounds.dark)]
  const both = `--accent:light-dark(${light},${dark});--accent-soft:light-dark(${light}1f,${dark}24)`
  return `:root{--accent:${light};--accent-soft:${light}1f}@supports (color:light-dark(red,red)){:root{${both}}}${footerStyles}`
}

const cached = { 'cache-control': 'public, max-age=31536000, immutable' }
/** Opened as a page of its own, an SVG could run scripts and load other files. */
const safely = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" }

/** Serves the logo and the style sheet of a brand, whose addresses change with their content. */
export function registerBrand(app: FastifyInstance, brand: Brand): void {
  const { logo } = brand
  addReply(app, '/page/brand.css', prepare(stylesOf(brand), 'text/css; charset=utf-8', cached))
  if (logo !== undefined) addReply(app, '/page/logo', prepare(logo.bytes, logo.type, { ...cached, ...safely }))
}

const hashOf = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex').slice(0, 10)

/** What the pages show of a brand; undefined if nothing of it is set. */
export function shownBrand(brand: Brand): ShownBrand | undefined {
  const { logo, footer, links = [] } = brand
  if (logo === undefined && brand.accent === undefined && footer === undefined && links.length === 0) return undefined
  return {
    styles: `page/brand.css?${hashOf(stylesOf(brand))}`,
    ...(logo && { logo: `page/logo?${hashOf(logo.bytes)}` }),
    ...(footer !== undefined && { footer }),
    links,
  }
}
