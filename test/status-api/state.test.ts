import { describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { exampleServer } from '../helpers/example-server.ts'
import { buildTestApp } from '../helpers/test-app.ts'

const down = new SourceError('refused', 'Server.test: connection refused')

describe('the state of a reply', () => {
  it('is 503 before the first successful poll', async () => {
    const { get, fleet } = await buildTestApp({ scripts: { Server: { status: down } }, polled: false })
    for (const path of ['getall', 'favicon', 'servers/Server/ticks']) {
      const reply = await get(`/api/v1/${path}`)
      expect(reply.status).toBe(503)
      expect(reply.headers.get('retry-after')).toBe('5')
      expect(reply.headers.get('access-control-allow-origin')).toBe('*')
      expect(await reply.json()).toMatchObject({
        code: 'SERVER_UNREACHABLE',
        instance: `/api/v1/${path}`,
        detail: 'The server "Server" has not been reached yet; /api/v1/servers/Server/sources says why.',
      })
    }
    await fleet.pollAll()
    expect((await get('/api/v1/getall')).status).toBe(503)
  })

  it.each(['/mc/api/v1/motd', '/mc/api/v1/favicon'])('of %s names the path of the reason below BASE_PATH', async (path) => {
    const { get } = await buildTestApp({ scripts: { Server: { status: down } }, env: { BASE_PATH: '/mc' } })
    expect(await (await get(path)).json()).toMatchObject({
      instance: path,
      detail: expect.stringContaining('; /mc/api/v1/servers/Server/sources says why.'),
    })
  })

  it('is the last snapshot until it is stale, and recovers with the server', async () => {
    const { get, fleet, clock } = await buildTestApp({ scripts: { Server: { status: { motd: 'hello' } } } })
    fleet.scripts.Server = { status: down }
    await clock.advance(12_345)
    await fleet.pollAll()
    const late = await get('/api/v1/motd')
    expect(await late.text()).toBe('["hello"]')
    expect(late.headers.get('x-snapshot-age')).toBe('12.345')
    await clock.advance(2_656)
    const stale = await get('/api/v1/motd')
    expect(stale.status).toBe(503)
    expect(await stale.json()).toMatchObject({ code: 'SERVER_UNREACHABLE', detail: expect.stringContaining('15 s ago') })
    fleet.scripts.Server = { status: { motd: 'back' } }
    await fleet.pollAll()
    expect(await (await get('/api/v1/motd')).text()).toBe('["back"]')
  })

  it('keeps its ETag while the content is the same, and answers 304 to it', async () => {
    const { get, fleet, clock } = await buildTestApp({ scripts: { Server: exampleServer } })
    const first = await get('/api/v1/getall')
    const tag = first.headers.get('etag') ?? ''
    await clock.advance(5_000)
    await fleet.pollAll()
    const second = await get('/api/v1/getall', { 'if-none-match': `"other", W/${tag}` })
    expect(second.status).toBe(304)
    expect(await second.text()).toBe('')
    expect(Object.fromEntries(second.headers)).toMatchObject({
      etag: tag,
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
      'x-snapshot-source': 'status, rcon, directory',
    })
    expect(second.headers.has('content-type')).toBe(false)
    fleet.scripts.Server = { status: { motd: 'changed' } }
    await fleet.pollAll()
    const third = await get('/api/v1/getall', { 'if-none-match': tag })
    expect(third.status).toBe(200)
    expect(third.headers.get('etag')).not.toBe(tag)
  })

  it('answers HEAD like GET, without the body', async () => {
    const { url } = await buildTestApp({ scripts: { Server: exampleServer } })
    const [got, headed] = await Promise.all([fetch(`${url}/api/v1/getall`), fetch(`${url}/api/v1/getall`, { method: 'HEAD' })])
    const comparable = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)))
    expect(headed.status).toBe(200)
    expect(comparable(headed)).toEqual(comparable(got))
    expect(await headed.text()).toBe('')
  })
})

describe('/sources', () => {
  it('has the state of each source, and the settings that would provide an unknown field', async () => {
    const { get, fleet, clock } = await buildTestApp({ scripts: { Server: { status: { motd: 'hi' } } } })
    const { sources, ...reply } = (await (await get('/api/v1/sources')).json()) as { sources: unknown[] }
    expect({ ...reply, sources: sources.slice(0, 6) }).toMatchObject({
      server: 'Server',
      sources: [
        { source: 'status', configured: true, target: 'Server.test:status', state: 'ok', lastError: null, duration: 0 },
        {
          source: 'rcon',
          configured: false,
          target: null,
          state: 'off',
          lastError: null,
          lastSuccess: null,
          duration: null,
          resting: [],
        },
        { source: 'management', state: 'off' },
        { source: 'query', state: 'off' },
        { source: 'jmx', state: 'off' },
        { source: 'directory', state: 'off' },
      ],
      fields: {
        motd: { source: 'status', setting: null },
        tickCount: { source: null, setting: 'set enable-rcon=true and MC_RCON_PASSWORD to see ticks' },
        loaderVersion: { source: null, setting: 'set MC_DIRECTORY to see the loader version' },
        latency: { source: null, setting: null },
      },
    })
    fleet.scripts.Server = { status: down }
    await clock.advance(5_000)
    await fleet.pollAll()
    const message = `${down.message}; is the server running, and is this the address that players use?`
    const failure = { code: 'refused', message, at: new Date(clock.wall()).toISOString() }
    const failed = (await (await get('/api/v1/servers/Server/sources')).json()) as { sources: unknown[] }
    expect(failed.sources[0]).toMatchObject({ state: 'failed', lastError: failure })
    fleet.scripts.Server = { status: {} }
    await fleet.pollAll()
    const again = (await (await get('/api/v1/sources')).json()) as { sources: unknown[] }
    expect(again.sources[0]).toMatchObject({ state: 'ok', lastError: failure })
  })

  it('has the age of the snapshot and the sources of all its fields', async () => {
    const { get, fleet, clock } = await buildTestApp({ scripts: { Server: exampleServer } })
    await clock.advance(1_500)
    for (const path of ['sources', 'servers/Server/sources']) {
      const { headers } = await get(`/api/v1/${path}`)
      expect([headers.get('x-snapshot-age'), headers.get('x-snapshot-source')]).toEqual(['1.500', 'status, rcon, directory'])
    }
    fleet.scripts.Server = { status: down }
    await clock.advance(20_000)
    await fleet.pollAll()
    const { status, headers } = await get('/api/v1/sources')
    expect([status, headers.get('x-snapshot-age'), headers.get('x-snapshot-source')]).toEqual([200, '21.500', 'none'])
  })

  it('has what to check for a failing source, besides disabled sources', async () => {
    const refused = new SourceError('auth', 'Server.test: the password is wrong')
    const { get } = await buildTestApp({ scripts: { Server: { status: {}, rcon: refused } } })
    const { fields } = (await (await get('/api/v1/sources')).json()) as { fields: Record<string, { setting: string | null }> }
    expect(fields.tickCount?.setting).toBe('rcon fails (auth): check enable-rcon=true and MC_RCON_PASSWORD to see ticks')
    expect(fields.viewDistance?.setting).toBe(
      'set management-server-enabled=true, MC_MANAGEMENT and MC_MANAGEMENT_SECRET; or MC_DIRECTORY to see the view distance',
    )
    expect(fields.plugins?.setting).toBe('set enable-query=true and MC_QUERY to see the plugins')
    expect(fields.difficulty?.setting).toMatch(
      /^rcon fails .* MC_RCON_PASSWORD to see the difficulty; or set management-server.* to see the difficulty$/,
    )
  })

  it.each([
    ['rcon', 'auth', 'the password (MC_RCON_PASSWORD) must be the rcon.password of its server.properties'],
    ['management', 'tls', 'trust its certificate by MC_MANAGEMENT_FINGERPRINT or MC_MANAGEMENT_CA, or use ws:// where'],
    ['query', 'timeout', 'are enable-query=true and this query.port in its server.properties'],
  ] as const)('has what to do about a failure of %s (%s)', async (source, code, remedy) => {
    const failure = new SourceError(code, 'Server.test: it failed')
    const { get } = await buildTestApp({ scripts: { Server: { status: {}, [source]: failure } } })
    const { sources } = (await (await get('/api/v1/sources')).json()) as {
      sources: { source: string; lastError: { message: string } | null }[]
    }
    expect(sources.find((one) => one.source === source)?.lastError?.message).toContain(`Server.test: it failed; ${remedy}`)
  })

  it('has no hint that does not apply to a Bedrock server', async () => {
    const { get } = await buildTestApp({ scripts: { bedrock: { status: {} }, 'bedrock down': { status: down } } })
    const settings = async (name: string) => {
      const { fields } = (await (await get(`/api/v1/servers/${name}/sources`)).json()) as {
        fields: Record<string, { setting: string | null }>
      }
      return fields
    }
    expect(new Set(Object.values(await settings('bedrock')).map(({ setting }) => setting))).toEqual(new Set([null]))
    const { motd, tickCount } = await settings('bedrock%20down')
    expect(motd?.setting).toBe('status fails (refused): check MC_SERVER to see the message of the day')
    expect(tickCount?.setting).toBeNull()
  })

  it('answers for a server that has never been reached', async () => {
    const { get } = await buildTestApp({ scripts: { Server: { status: down } }, polled: false })
    const reply = await get('/api/v1/sources')
    expect(reply.status).toBe(200)
    expect([reply.headers.has('x-snapshot-age'), reply.headers.get('x-snapshot-source')]).toEqual([false, 'none'])
    const { sources } = (await reply.json()) as { sources: unknown[] }
    expect(sources[0]).toMatchObject({ source: 'status', state: 'pending', lastSuccess: null })
  })
})
