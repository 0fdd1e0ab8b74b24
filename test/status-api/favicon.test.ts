import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../helpers/test-app.ts'

const plain = (width: number, height: number, background = '#ff0000') =>
  sharp({ create: { width, height, channels: 3, background } })
const icon = await plain(64, 64).png().toBuffer()

const withIcon = (favicon?: Buffer) => buildTestApp({ scripts: { Server: { status: favicon === undefined ? {} : { favicon } } } })
const bytes = async (reply: Response) => Buffer.from(await reply.arrayBuffer())

describe('the form of the icon', () => {
  it.each([
    ['*/*', 'text'],
    ['text/plain, */*;q=0.1', 'text'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', 'text'],
    ['image/png;q=0, */*', 'text'],
    ['image/png;q=0.1, */*;q=1', 'text'],
    ['image/png;q=0.1, */*', 'text'],
    ['image/png;q=0, image/*', 'text'],
    ['image/avif;q=0.5, */*', 'text'],
    ['image/avif, application/json;q=0.9', 'json'],
    ['nonsense', 'text'],
    ['application/json', 'json'],
    ['image/png;q=0.2, application/json;q=0.5', 'json'],
    ['image/png', 'png'],
    ['image/*', 'png'],
    ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'png'],
    ['image/avif,image/webp,*/*', 'png'],
    ['image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5', 'png'],
    ['image/webp,video/*;q=0.8,image/*;q=0.8,*/*;q=0.5', 'png'],
    ['image/avif', 'png'],
    ['image/png;q=0.1', 'png'],
    ['IMAGE/PNG', 'png'],
  ] as const)('for %s', async (accept, form) => {
    const { get } = await withIcon(icon)
    const reply = await get('/api/v1/favicon', { accept })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('vary')).toBe('Accept')
    expect(reply.headers.get('x-favicon')).toBeNull()
    expect(reply.headers.get('x-snapshot-source')).toBe('status')
    const types = { text: 'text/plain; charset=utf-8', json: 'application/json; charset=utf-8', png: 'image/png' }
    expect(reply.headers.get('content-type')).toBe(types[form])
    const base64 = icon.toString('base64')
    const body = (await bytes(reply)).toString('latin1')
    expect(body).toBe({ text: base64, json: `"${base64}"`, png: icon.toString('latin1') }[form])
  })

  it('has an ETag for each form, and answers 304', async () => {
    const { get } = await withIcon(icon)
    const tagOf = async (accept: string) => (await get('/api/v1/favicon', { accept })).headers.get('etag') ?? ''
    const tags = await Promise.all(['*/*', 'application/json', 'image/png'].map(tagOf))
    expect(new Set(tags).size).toBe(3)
    const reply = await get('/api/v1/favicon', { accept: 'image/png', 'if-none-match': tags[2] ?? '' })
    expect(reply.status).toBe(304)
    expect(reply.headers.get('vary')).toBe('Accept')
  })

  it('varies by both headers if only one origin may read', async () => {
    const { get } = await buildTestApp({ scripts: { Server: { status: {} } }, env: { CORS_ORIGIN: 'https://a.example' } })
    const reply = await get('/api/v1/favicon')
    expect(reply.headers.get('vary')).toBe('Origin, Accept')
    expect(reply.headers.get('access-control-allow-origin')).toBe('https://a.example')
  })
})

const decode = async (reply: Response) =>
  sharp(await bytes(reply))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })

describe('normalising', () => {
  it.each([
    ['a JPEG', () => plain(64, 64).jpeg().toBuffer()],
    ['a PNG of 100x50', () => plain(100, 50).png().toBuffer()],
    ['a WebP of 1x1', () => plain(1, 1).webp().toBuffer()],
  ])('makes a 64x64 PNG of %s', async (_, make) => {
    const { get } = await withIcon(await make())
    const reply = await get('/api/v1/favicon', { accept: 'image/png' })
    expect(reply.headers.get('x-favicon')).toBeNull()
    const { data, info } = await decode(reply)
    expect(info).toMatchObject({ width: 64, height: 64 })
    const middle = 4 * (32 * 64 + 32)
    expect(data[middle]).toBeGreaterThan(240)
    expect(data[middle + 3]).toBe(255)
  })

  const noisy = () =>
    sharp({
      create: { width: 64, height: 64, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
    })
  it.each([
    ['no icon', async () => undefined],
    ['garbage', async () => Buffer.from('no picture')],
    ['nothing', async () => Buffer.alloc(0)],
    ['a truncated PNG', async () => (await noisy().png().toBuffer()).subarray(0, 2_000)],
    ['a PNG of 36 million pixels', () => plain(6_000, 6_000).png().toBuffer()],
    ['an SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>')],
  ])('sends the default icon for %s', async (_, make) => {
    const { get } = await withIcon(await make())
    const reply = await get('/api/v1/favicon', { accept: 'image/png' })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-favicon')).toBe('default')
    expect(reply.headers.get('x-snapshot-source')).toBe('none')
    expect((await decode(reply)).info).toMatchObject({ width: 64, height: 64 })
  })

  it('uses a new icon with the next snapshot', async () => {
    const { get, fleet } = await withIcon(icon)
    await get('/api/v1/favicon')
    const blue = await plain(64, 64, '#0000ff').png().toBuffer()
    fleet.scripts.Server = { status: { favicon: blue } }
    await fleet.pollAll()
    expect(await (await get('/api/v1/favicon')).text()).toBe(blue.toString('base64'))
  })
})

describe('scaling', () => {
  it.each([16, 64, 100, 512])('to %i without smoothing', async (size) => {
    const pixels = Buffer.from(Array.from({ length: 64 * 64 }, (_, n) => [(n ^ (n >> 6)) & 1 ? 255 : 0, 0, 0]).flat())
    const checkers = await sharp(pixels, { raw: { width: 64, height: 64, channels: 3 } })
      .png()
      .toBuffer()
    const { get } = await withIcon(checkers)
    const { data, info } = await decode(await get(`/api/v1/favicon?size=${size}`, { accept: 'image/*' }))
    expect(info).toMatchObject({ width: size, height: size })
    expect([...new Set(data)].filter((value) => value !== 0 && value !== 255)).toEqual([])
  })

  it.each(['15', '513', '', '64.0', '+64', '0x40', ' 64', '6e1'])('refuses size=%s', async (size) => {
    const { get } = await withIcon(icon)
    const reply = await get(`/api/v1/favicon?size=${encodeURIComponent(size)}`)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      code: 'INVALID_PARAMETER',
      detail: `Parameter "size" is ${JSON.stringify(size)}; expected an integer from 16 to 512.`,
    })
  })

  it('refuses two sizes, and ignores unknown parameters', async () => {
    const { get } = await withIcon(icon)
    expect((await get('/api/v1/favicon?size=64&size=32')).status).toBe(400)
    expect((await get('/api/v1/favicon?width=1&width=2')).status).toBe(200)
  })
})
