import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import type { Fields } from '../../../src/game/fields.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { createHeadSource } from '../../../src/web/pictures/head-source.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { buildTestApp, type TestAppOptions } from '../../helpers/test-app.ts'
import { until } from '../../helpers/until.ts'

const status: Partial<Fields> = { version: '1.21.11', software: 'Paper', motd: 'Hello', playersOnline: 12, playersMax: 100 }
const refused = new SourceError('refused', 'Server.test: connection refused')
const uuid = '069a79f4-44e9-4726-a5be-fca90e38aaf5'

const start = (scripts: TestAppOptions['scripts'] = { Server: { status, rcon: { tickRate: 19.98 } } }, env = {}) =>
  buildTestApp({ scripts, env })
const bytes = async (reply: Response) => Buffer.from(await reply.arrayBuffer())
const sizeOf = async (reply: Response) => {
  const { format, width, height } = await sharp(await bytes(reply)).metadata()
  return { format, width, height }
}

describe('the pictures', () => {
  it.each([
    ['banner.png', { format: 'png', width: 600, height: 108 }],
    ['banner.png?width=300&theme=light', { format: 'png', width: 300, height: 81 }],
    ['banner.png?width=1200', { format: 'png', width: 1200, height: 173 }],
    ['chart.png', { format: 'png', width: 720, height: 240 }],
    ['chart.png?width=200&height=100&range=7d&series=latency&theme=light', { format: 'png', width: 200, height: 100 }],
    ['chart.png?width=1600&height=800&range=365d&series=tickTimeMean,tickTimeP99', { format: 'png', width: 1600, height: 800 }],
    [`players/${uuid}/head.png`, { format: 'png', width: 64, height: 64 }],
    [`players/${uuid.replaceAll('-', '').toUpperCase()}/head.png?size=8`, { format: 'png', width: 8, height: 8 }],
    [`players/${uuid}/head.png?size=128`, { format: 'png', width: 128, height: 128 }],
  ])('%s', async (path, size) => {
    const { get } = await start({ Server: { status }, 'the other': { status } })
    for (const base of ['/api/v1', '/api/v1/servers/the%20other']) {
      const reply = await get(`${base}/${path}`)
      expect(reply.status).toBe(200)
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, max-age=30',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^".+"$/),
      })
      const again = await get(`${base}/${path}`, { 'if-none-match': reply.headers.get('etag') ?? '' })
      expect(again.status).toBe(304)
      expect(await sizeOf(reply)).toEqual(size)
    }
  })

  it.each([
    ['banner.png?width=299', 'width'],
    ['banner.png?width=1201', 'width'],
    ['banner.png?width=600.0', 'width'],
    ['banner.png?theme=pink', 'theme'],
    ['badge.svg?show=motd', 'show'],
    ['chart.png?width=199', 'width'],
    ['chart.png?height=801', 'height'],
    ['chart.png?range=2y', 'range'],
    ['chart.png?series=tps', 'series'],
    ['chart.png?series=players,latency', 'series'],
    [`players/${uuid}/head.png?size=7`, 'size'],
    [`players/${uuid}/head.png?size=129`, 'size'],
    ['players/Notch/head.png', 'uuid'],
    ['players/%3Cscript%3E/head.png', 'uuid'],
  ])('%s is refused', async (path, parameter) => {
    const { get } = await start()
    const reply = await get(`/api/v1/${path}`)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      code: 'INVALID_PARAMETER',
      detail: expect.stringContaining(`Parameter "${parameter}"`),
    })
  })

  it('exist only for watched servers', async () => {
    const { get } = await start()
    for (const path of ['banner.png', 'badge.svg', 'chart.png', `players/${uuid}/head.png`])
      expect((await get(`/api/v1/servers/none/${path}`)).status).toBe(404)
  })

  it('exist for a server that is down, and before the first poll, and differ', async () => {
    const service = await buildTestApp({ scripts: { Server: { status } }, polled: false })
    const tags = async () =>
      Promise.all(
        ['banner.png', 'badge.svg', 'badge.svg?show=players'].map(async (path) => {
          const reply = await service.get(`/api/v1/${path}`)
          expect(reply.status).toBe(200)
          return reply.headers.get('etag')
        }),
      )
    const unknown = await tags()
    await service.fleet.pollAll()
    const up = await tags()
    service.fleet.scripts.Server = { status: refused }
    await service.fleet.pollAll()
    const down = await tags()
    expect(new Set([...unknown, ...up, ...down]).size).toBe(9)
    expect((await service.get('/api/v1/chart.png')).status).toBe(200)
  })

  it('are rendered once for many simultaneous requests', async () => {
    const { get } = await start()
    const replies = await Promise.all(Array.from({ length: 100 }, () => get('/api/v1/banner.png')))
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).toBe(1)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('are the heads of a whole page at once, as a browser requests them by HTTP/2', async () => {
    const { get } = await start()
    const pathOf = (player: number) =>
      `/api/v1/players/00000000-0000-4000-8000-${String(player).padStart(12, '0')}/head.png?size=32`
    const replies = await Promise.all(Array.from({ length: 140 }, (_, player) => get(pathOf(player))))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('are refused if too many are waiting', async () => {
    const { get } = await start()
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => get(`/api/v1/chart.png?width=800&height=${300 + index}`)),
    )
    const refused = replies.filter(({ status }) => status === 503)
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(60)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]!.headers.get('retry-after')).toBe('2')
    expect(await refused[0]!.json()).toMatchObject({ code: 'TOO_MANY_PICTURES' })
    expect((await get('/api/v1/chart.png')).status).toBe(200)
  })
})

describe('/badge.svg', () => {
  const title = async (reply: Response) => /<title>(.*?)<\/title>/s.exec(await reply.text())?.[1]

  it.each([
    ['', 'status: online'],
    ['?show=status', 'status: online'],
    ['?show=players', 'players: 12/100'],
    ['?show=tps', 'TPS: 20.0'],
    ['?show=version', 'version: 1.21.11'],
    ['?show=uptime', 'uptime 90 d: 100%'],
  ])('%s', async (query, expected) => {
    const service = await start()
    await service.clock.advance(1_000)
    const reply = await service.get(`/api/v1/badge.svg${query}`)
    expect(reply.headers.get('content-type')).toBe('image/svg+xml')
    expect(reply.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(await title(reply)).toBe(expected)
    const { width, height } = await sharp(await bytes(await service.get(`/api/v1/badge.svg${query}`))).metadata()
    expect(height).toBe(20)
    expect(width).toBeGreaterThan(50)
  })

  it.each([
    [{ tickRate: 20, tickFrozen: true }, 'TPS: frozen'],
    [{ tickRate: 0, tickPaused: true }, 'TPS: paused'],
    [{ tickRate: 3 }, 'TPS: 3.0'],
    [{}, 'TPS: unknown'],
  ])('rates the ticks with %o', async (rcon, expected) => {
    const { get } = await start({ Server: { status, rcon } })
    expect(await title(await get('/api/v1/badge.svg?show=tps'))).toBe(expected)
  })

  it.each([
    [{ tickRate: 10, tickRateTarget: 10 }, '#2f8f2f'],
    [{ tickRate: 18, tickRateTarget: 20 }, '#b07d00'],
    [{ tickRate: 18 }, '#b07d00'],
    [{ tickRate: 20, tickRateTarget: 40 }, '#c93b3b'],
  ])('colours the ticks by their target: %o', async (rcon, color) => {
    const { get } = await start({ Server: { status, rcon } })
    expect(await (await get('/api/v1/badge.svg?show=tps')).text()).toContain(`fill="${color}"`)
  })

  it('shows that a server is down', async () => {
    const service = await start({ Server: { status: refused } })
    await service.clock.advance(10_000)
    for (const show of ['status', 'players', 'tps', 'version'])
      expect(await title(await service.get(`/api/v1/badge.svg?show=${show}`))).toContain(': offline')
    expect(await title(await service.get('/api/v1/badge.svg?show=uptime'))).toBe('uptime 90 d: 0%')
  })

  it('shows maintenance instead of the state, but values of a server that is up, and the uptime', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-pictures-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'tickwarden.yaml')
    writeFileSync(file, 'maintenance:\n  - { from: 2023-11-14T22:14:00Z, to: 2023-11-14T23:00:00Z, reason: disk }\n')
    const service = await buildTestApp({ scripts: { Server: { status }, down: { status: refused } }, file })
    await service.clock.advance(1_000)
    const titles = (server: string) =>
      Promise.all(
        ['status', 'players', 'uptime'].map(async (show) =>
          title(await service.get(`/api/v1/servers/${server}/badge.svg?show=${show}`)),
        ),
      )
    const banner = async (server: string) => (await service.get(`/api/v1/servers/${server}/banner.png`)).headers.get('etag')
    const [upBanner, downBanner] = [await banner('Server'), await banner('down')]
    expect(await titles('down')).toEqual(['status: offline', 'players: offline', 'uptime 90 d: 0%'])
    await service.clock.advance(60_000)
    await service.fleet.pollAll()
    expect(await titles('Server')).toEqual(['status: maintenance', 'players: 12/100', 'uptime 90 d: 100%'])
    expect(await titles('down')).toEqual(['status: maintenance', 'players: maintenance', 'uptime 90 d: 0%'])
    expect(await banner('Server')).not.toBe(upBanner)
    expect(await banner('down')).not.toBe(downBanner)
  })

  it('shows that the state is unknown', async () => {
    const { get } = await buildTestApp({ scripts: { Server: { status } }, polled: false })
    for (const show of ['status', 'players', 'tps', 'version', 'uptime'])
      expect(await title(await get(`/api/v1/badge.svg?show=${show}`))).toContain('unknown')
  })

  it('contains texts from a server only as text, never as markup', async () => {
    const version = `"><script>alert(1)</script>&amp;'\u202e\u200b\u0000\u001b]]>`
    const { get } = await start({ Server: { status: { ...status, version } } })
    const svg = await (await get('/api/v1/badge.svg?show=version')).text()
    expect(svg).toContain("<title>version: &quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;'")
    expect(svg).not.toMatch(/<script|[\u0000-\u001f\u200b\u202e]/)
    expect(svg).not.toContain('<text')
    expect((await sharp(Buffer.from(svg)).metadata()).format).toBe('svg')
  })
})

describe('hostile texts', () => {
  it.each([
    ['markup', '<svg onload="x"><image href="file:///etc/passwd"/></svg>&<!--'],
    ['control, bidi and zero-width characters', '\u0000\u0007\u001b[31m\u202e\u2066\u200b\ufeff§'],
    ['lone surrogates', '\ud800x\udc00'],
    ['marks without end', `a${'\u0301'.repeat(5_000)}`],
    ['a very long text', 'W'.repeat(100_000)],
    ['only codes', '§c§l§r§#12'],
    ['characters missing in the font', '日本語 🎮 العربية'],
  ])('%s', async (_, text) => {
    const motd = `${text}\n${text}\n${text}`
    const { get } = await start({
      Server: { status: { ...status, motd, version: text, software: text } },
      [`x${text.replaceAll(/[/\p{Surrogate}]/gu, '')}`.slice(0, 100)]: { status },
    })
    const names = (await (await get('/api/v1/servers')).json()) as string[]
    for (const name of names) {
      for (const path of ['banner.png?width=300', 'chart.png', 'badge.svg?show=version']) {
        const reply = await get(`/api/v1/servers/${encodeURIComponent(name)}/${path}`)
        expect(reply.status).toBe(200)
        expect((await sizeOf(reply)).width).toBeGreaterThan(10)
      }
    }
  })
})

describe('heads from HEADS_URL', () => {
  const head = (background: string) =>
    sharp({ create: { width: 16, height: 16, channels: 3, background } })
      .png()
      .toBuffer()

  /** @param answer undefined: the connection is closed */
  async function startService(answer: (url: string) => Promise<{ status?: number; body: Buffer } | undefined>) {
    const requested: string[] = []
    const server = createServer(async (request, reply) => {
      requested.push(request.url ?? '')
      const answered = await answer(request.url ?? '')
      if (answered === undefined) return void request.socket.destroy()
      const { status = 200, body } = answered
      reply.writeHead(status, { 'content-type': 'image/png' }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return { requested, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/face/{uuid}?s={size}` }
  }

  async function startHeads(answer: Parameters<typeof startService>[0], env: Record<string, string> = {}) {
    const { requested, url } = await startService(answer)
    const service = await start(undefined, { HEADS_URL: url, ...env })
    return { requested, service }
  }

  const pixel = async (reply: Response) => [
    ...(
      await sharp(await bytes(reply))
        .removeAlpha()
        .raw()
        .toBuffer()
    ).subarray(0, 3),
  ]
  const pattern = async () => pixel(await (await start()).get(`/api/v1/players/${uuid}/head.png`))

  it('are fetched once, whatever size', async () => {
    const red = await head('#ff0000')
    const { requested, service } = await startHeads(async () => ({ body: red }))
    const replies = await Promise.all(
      [8, 32, 128, 32].map((size) => service.get(`/api/v1/players/${uuid}/head.png?size=${size}`)),
    )
    for (const reply of replies) expect(await pixel(reply)).toEqual([255, 0, 0])
    expect(requested).toEqual([`/face/${uuid}?s=128`])
  })

  it.each([
    ['an error', { status: 404, body: Buffer.from('none') }],
    ['no picture', { body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>') }],
    ['too much', { body: Buffer.alloc(1_000_000) }],
    ['a redirect', { status: 302, body: Buffer.alloc(0) }],
  ])('are patterns if the service answers %s, without another request at once', async (_, answer) => {
    const { requested, service } = await startHeads(async () => answer)
    const expected = await pattern()
    for (let count = 0; count < 3; count++)
      expect(await pixel(await service.get(`/api/v1/players/${uuid}/head.png`))).toEqual(expected)
    expect(requested).toHaveLength(1)
  })

  /** A service that answers the heads of eight players when it is let go. */
  async function startSlowHeads(failed: string[] = [], unanswered: string[] = []) {
    const waiting: (() => void)[] = []
    const red = await head('#ff0000')
    const { requested, service } = await startHeads(async (url) => {
      if (unanswered.some((end) => url.includes(uuid.slice(0, -1) + end))) return undefined
      if (failed.some((id) => url.includes(id))) return { status: 404, body: Buffer.from('none') }
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { body: red }
    })
    const getHead = (index: number) => service.get(`/api/v1/players/${uuid.slice(0, -1)}${index}/head.png`)
    return { waiting, requested, getHead }
  }

  it('are fetched four at a time if a page requests more at once', async () => {
    const { waiting, requested, getHead } = await startSlowHeads()
    const heads = [0, 1, 2, 3, 4, 5, 6, 7].map(getHead)
    await until(() => waiting.length === 4)
    expect(requested).toHaveLength(4)
    for (const go of waiting) go()
    await until(() => waiting.length === 8)
    for (const go of waiting) go()
    for (const reply of await Promise.all(heads)) expect(await pixel(reply)).toEqual([255, 0, 0])
  })

  it('are fetched four at a time also after an error of one', async () => {
    const { waiting, getHead } = await startSlowHeads([`${uuid.slice(0, -1)}0`])
    await getHead(0)
    const slow = [1, 2, 3, 4, 5].map(getHead)
    await until(() => waiting.length === 4)
    for (const go of waiting) go()
    await until(() => waiting.length === 5)
    waiting[4]?.()
    for (const reply of await Promise.all(slow)) expect(await pixel(reply)).toEqual([255, 0, 0])
  })

  it('are patterns if a service that did not answer has too many requests', async () => {
    const { waiting, requested, getHead } = await startSlowHeads([], ['0'])
    await getHead(0)
    const slow = [1, 2, 3, 4].map(getHead)
    await until(() => waiting.length === 4)
    expect((await getHead(5)).status).toBe(200)
    expect(requested).toHaveLength(5)
    for (const go of waiting) go()
    for (const reply of await Promise.all(slow)) expect(await pixel(reply)).toEqual([255, 0, 0])
  })

  it('are patterns if they wait for a service that stops to answer', async () => {
    const waiting: (() => void)[] = []
    const { requested, url } = await startService(() => new Promise((resolve) => waiting.push(() => resolve(undefined))))
    const source = createHeadSource(url, silentLog, systemClock)
    onTestFinished(() => source.close())
    // Not over HTTP, where the last one may arrive when the others have failed.
    const heads = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => source.get(uuid.slice(0, -1) + index, () => {}))
    await until(() => waiting.length === 4)
    for (const go of waiting) go()
    expect(await Promise.all(heads)).toEqual(heads.map(() => undefined))
    expect(requested).toHaveLength(4)
  })

  it('are requested later if they have waited for too long: that is no failure of the service', async () => {
    const red = await head('#ff0000')
    const waiting: (() => void)[] = []
    const { url } = await startService(async () => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { body: red }
    })
    const warnings: unknown[] = []
    const clock = manualClock()
    const source = createHeadSource(url, { ...silentLog, warn: (...given: unknown[]) => void warnings.push(given) }, clock)
    onTestFinished(() => source.close())
    const get = (index: number) => source.get(uuid.slice(0, -1) + index, () => {})
    const heads = [0, 1, 2, 3, 4].map(get)
    await until(() => waiting.length === 4)
    clock.suspend(10_000)
    for (const go of waiting) go()
    expect((await Promise.all(heads)).map((found) => found !== undefined)).toEqual([true, true, true, true, false])
    const again = get(4)
    await until(() => waiting.length === 5)
    waiting[4]?.()
    expect(await again).toBeDefined()
    expect(warnings).toEqual([])
  })

  it('are fetched for as many players as the limit of a client allows', async () => {
    const red = await head('#ff0000')
    const { requested, service } = await startHeads(async () => ({ body: red }), { CLIENT_HEADS: '4' })
    const ids = [0, 1, 2].map((index) => uuid.slice(0, -1) + index)
    const replies = []
    // Each counts twice, because it is requested and rendered.
    for (const id of [ids[0], ids[1], ids[0], ids[2]]) replies.push(await service.get(`/api/v1/players/${id}/head.png`))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    for (const reply of replies.slice(0, 3)) expect(await pixel(reply)).toEqual([255, 0, 0])
    expect(requested).toEqual(ids.slice(0, 2).map((id) => `/face/${id}?s=128`))
  })
})
