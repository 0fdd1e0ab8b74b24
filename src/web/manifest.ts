import type { FastifyInstance } from 'fastify'
import { type PreparedReply, prepare, sendPrepared } from '../http/replies/reply.ts'
import { loadSharp } from '../util/sharp.ts'
import { addReply, hidden } from './assets.ts'
import type { Brand } from './brand.ts'
import { cleanName } from './view/clean-text.ts'
import { faviconSvg, iconNames } from './view/icons.ts'

const sizes = [192, 512] as const
const type = 'image/svg+xml'

/** The icon of the page as PNG, with a background that a phone may crop to a circle. */
async function drawIcon(size: number, picture: string | undefined): Promise<Buffer> {
  const sharp = await loadSharp()
  const inner = Math.round(size * 0.6)
  const ground = { width: size, height: size, channels: 4 as const, background: '#171b21' }
  // Of a vector, as many pixels as needed: 16 at 72 dpi.
  const icon = await sharp(Buffer.from(faviconSvg('icon', picture)), { density: (72 * inner) / 16 })
    .resize(inner, inner, { kernel: 'nearest' })
    .png()
    .toBuffer()
  return sharp({ create: ground })
    .composite([{ input: icon }])
    .png()
    .toBuffer()
}

/** The web app manifest, so that the page can be installed on a phone, and the icons of the page. */
export function registerManifest(app: FastifyInstance, title: string, { logo, accent = '#0f1216' }: Brand): void {
  const name = cleanName(title)
  const picture = logo && `data:${logo.type};base64,${logo.bytes.toString('base64')}`
  // Relative to the manifest, so that it works behind any path prefix.
  const manifest = prepare(
    JSON.stringify({
      name,
      short_name: [...name].slice(0, 12).join('').trim(),
      start_url: '../',
      scope: '../',
      display: 'standalone',
      background_color: '#0f1216',
      theme_color: accent,
      icons: [
        { src: 'icon.svg', sizes: 'any', type },
        ...sizes.map((size) => ({
          src: `icon-${size}.png`,
          sizes: `${size}x${size}`,
          type: 'image/png',
          purpose: 'any maskable',
        })),
      ],
    }),
    'application/manifest+json; charset=utf-8',
  )
  addReply(app, '/page/manifest.webmanifest', manifest)
  for (const icon of iconNames) addReply(app, `/page/${icon}.svg`, prepare(faviconSvg(icon, picture), type))
  for (const size of sizes) {
    let drawn: PreparedReply | undefined
    app.get(`/page/icon-${size}.png`, hidden, async (request, reply) => {
      drawn ??= prepare(await drawIcon(size, picture), 'image/png')
      return sendPrepared(request, reply, drawn)
    })
  }
}
