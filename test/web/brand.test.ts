import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { openPage, sharedBrowser, violationsOf } from '../helpers/browser.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp } from '../helpers/test-app.ts'

const scripts = { lobby: { status: { playersOnline: 3, playersMax: 20, version: '1.21.11' } } }
const accept = 'text/html'

function fileWith(name: string, content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'brand-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
function namedPipe(): string {
  const path = join(dirname(fileWith('other', '')), 'logo')
  execFileSync('mkfifo', [path])
  return path
}
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><rect width="8" height="8" fill="#0a0"/></svg>'
const png = () =>
  sharp({ create: { width: 40, height: 20, channels: 3, background: '#00aa00' } })
    .png()
    .toBuffer()

describe('the brand of the page', () => {
  it('is logo, colour, text and links', async () => {
    const { get } = await buildTestApp({
      scripts,
      env: {
        ...{ PAGE_LOGO: fileWith('logo.png', await png()), PAGE_ACCENT: '#F80', PAGE_PUBLIC: 'false' },
        PAGE_FOOTER: '<script>alert(1)</script>\u202e & "more"',
        PAGE_LINKS: 'Our <b>shop</b> https://shop.example.org/?a=1&b=2, Discord https://discord.example.org',
      },
    })
    const page = await (await get('/', { accept })).text()
    expect(page).toContain('<bdi>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;</bdi>')
    expect(page).toContain(
      '<a href="https://shop.example.org/?a=1&amp;b=2" rel="noopener"><bdi>Our &lt;b&gt;shop&lt;/b&gt;</bdi></a>',
    )
    expect(page).not.toContain('<script>alert')
    const [, logoPath] = /class="logo" src="([^"]+)"/.exec(page) ?? []
    const logo = await get(`/${logoPath}`)
    expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/png'])
    const icon = await get('/page/icon-192.png')
    const { dominant } = await sharp(
      Buffer.from(
        await await sharp(Buffer.from(await icon.arrayBuffer()))
          .extract({ left: 80, top: 80, width: 32, height: 32 })
          .png()
          .toBuffer(),
      ),
    ).stats()
    expect(dominant.g).toBeGreaterThan(150)
    expect(await (await get('/page/manifest.webmanifest')).json()).toMatchObject({ theme_color: '#ff8800' })
    const server = await (await get('/servers/lobby', { accept })).text()
    expect(server).toMatch(/og:image" content="[^"]+page\/icon-512\.png"/)
    expect(server).toContain('class="foot"')
    expect(await (await get('/docs', { accept })).text()).toContain('page/brand.css?')
  })

  it('has an SVG that cannot run scripts', async () => {
    const { get } = await buildTestApp({ scripts, env: { PAGE_LOGO: fileWith('logo.svg', svg) } })
    const { headers } = await get('/page/logo')
    expect(headers.get('content-type')).toBe('image/svg+xml')
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox$/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // Within another picture it is only drawn.
    expect(await (await get('/page/icon.svg')).text()).not.toContain('<script')
  })

  it('is not part of a page without one', async () => {
    const { get } = await buildTestApp({ scripts })
    const page = await (await get('/', { accept })).text()
    for (const part of ['brand.css', 'class="foot"', 'page/logo']) expect(page).not.toContain(part)
    expect((await get('/page/logo')).status).toBe(404)
  })

  it('names every wrong value', () => {
    const env = {
      PAGE_LOGO: '/nothing/logo.png',
      PAGE_ACCENT: 'red; background: url(x)',
      PAGE_FOOTER: 'x'.repeat(501),
      PAGE_LINKS: 'Home javascript:alert(1)',
      PAGE_LANGUAGE: 'xx',
    }
    const load = () => loadConfig({ env, watches: false })
    for (const name of Object.keys(env)) expect(load).toThrow(name)
  })

  it.each([
    ['PAGE_LOGO', () => fileWith('logo.png', 'not a picture')],
    ['PAGE_LOGO', () => fileWith('logo.png', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(200_000)]))],
    ['PAGE_LOGO', () => tmpdir()],
    ['PAGE_LOGO', () => fileWith('logo.png', Buffer.from('89504e470d0a1a0a', 'hex'))],
    ['PAGE_LOGO', async () => fileWith('logo.png', (await png()).subarray(0, -20))],
    ['PAGE_LOGO', () => fileWith('logo.webp', 'RIFF....WEBPVP8 ')],
    ['PAGE_LOGO', () => fileWith('logo.svg', `<!doctype html><html><body>${svg}</body></html>`)],
    ['PAGE_LOGO', () => fileWith('logo.svg', svg.replace(/ xmlns="[^"]+"/, ''))],
    ['PAGE_LOGO', () => fileWith('logo.svg', svg.slice(0, 90))],
    ['PAGE_LOGO', namedPipe],
    ['PAGE_ACCENT', () => '#12345'],
    ['PAGE_ACCENT', () => '#1234567890'],
    ['PAGE_LINKS', () => 'http://example.org'],
    ['PAGE_LINKS', () => 'Home http://example.org'],
    ['PAGE_LINKS', () => 'https://example.org'],
    ['PAGE_LINKS', () => 'Home data:text/html,x'],
    ['PAGE_LINKS', () => 'Home https://user:pass@example.org'],
    ['PAGE_LINKS', () => Array.from({ length: 13 }, (_, index) => `L${index} https://example.org/${index}`).join(',')],
  ])('refuses %s %#', async (name, value) => {
    const given = await value()
    expect(() => loadConfig({ env: { [name]: given }, watches: false })).toThrow(name)
  })

  it.each([
    ['image/png', png],
    [
      'image/webp',
      async () =>
        await sharp(await png())
          .webp()
          .toBuffer(),
    ],
    ['image/svg+xml', () => `\ufeff<?xml version="1.0"?>\n<!-- made with <b>care</b> -->\n<!DOCTYPE svg>\n${svg}\n`],
  ])('takes %s, and shows another icon as soon as it is replaced', async (type, content) => {
    const { get } = await buildTestApp({ scripts, env: { PAGE_LOGO: fileWith('logo', await content()) } })
    expect((await get('/page/logo')).headers.get('content-type')).toBe(type)
    for (const path of ['/page/icon.svg', '/page/icon-192.png']) {
      const { headers } = await get(path)
      expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-cache', expect.any(String)])
    }
  })
})

it.skipIf(!hasTool('chromium'))('an accent of any colour can be read in both themes', async () => {
  const browser = await sharedBrowser()
  for (const PAGE_ACCENT of ['#ffff00', '#000000']) {
    const env = {
      PAGE_ACCENT,
      PAGE_FOOTER: 'Hosted by Example',
      PAGE_LINKS: 'Discord https://discord.example.org',
      PAGE_LOGO: fileWith('logo.svg', svg),
    }
    const { url } = await buildTestApp({ scripts: { ...scripts, gone: { status: {} }, second: {} }, env })
    for (const path of ['/', '/servers/lobby']) {
      const { page, problems } = await openPage(browser, { width: 360 })
      await page.goto(url + path)
      await page.locator('#connection[data-state=live]').waitFor()
      await page.getByRole('contentinfo').getByText('Hosted by Example').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.evaluate("document.querySelector('.logo').naturalWidth > 0")).toBe(true)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await violationsOf(page), `${PAGE_ACCENT} ${colorScheme} ${path}`).toEqual([])
      }
      expect(problems).toEqual([])
    }
  }
})
