import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { startDemoServer } from '../../../../src/demo/demo-server.ts'
import { createFleet } from '../../../../src/game/fleet.ts'
import { FrameReader } from '../../../../src/game/protocol/status/frames.ts'
import { isAsleep } from '../../../../src/game/snapshot.ts'
import { createSources } from '../../../../src/game/sources/create-sources.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { never } from '../../../helpers/never.ts'
import { decodeHandshake, encodeStatus } from '../../../helpers/status-packets.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }

it('the handshake carries the configured name, with the port that was dialled', async () => {
  const hosts: string[] = []
  await using server = await hostileServer((socket) => {
    const frames = new FrameReader()
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk)
      const frame = frames.next()
      if (frame === undefined || hosts.length > 0) return
      const { host, port } = decodeHandshake(frame)
      hosts.push(`${host}:${port}`)
      socket.end(encodeStatus('{}'))
    })
  })
  const address = { edition: 'java', host: '127.0.0.1', port: server.port } as const
  await new StatusSource(address, context, { hostname: 'lobby.example.org' }).poll(never())
  expect(hosts).toEqual([`lobby.example.org:${server.port}`])
})

describe('a server that is asleep behind a proxy', () => {
  async function createWatcher(motd: string, asleepMotd: string, port?: number) {
    const demo = await startDemoServer({ motd })
    onTestFinished(demo.close)
    const { poll } = loadConfig({ env: { POLL_INTERVAL: '1m', POLL_TIMEOUT: '30s' } })
    const address = { ...demo.address, ...(port !== undefined && { port }) }
    const sources = { status: { address, asleepMotd }, query: { address: demo.query } }
    const servers = [{ name: 'a', sources }]
    const fleet = createFleet({ servers, poll, clock: systemClock, log: silentLog, createSources })
    onTestFinished(() => fleet.close())
    return fleet.watchers[0]!
  }

  const watch = async (motd: string, asleepMotd: string) => (await createWatcher(motd, asleepMotd)).poll()

  it.each([
    ['the text', '§eThis server is asleep. §7Join to wake it.', 'server is asleep'],
    ['the pattern', 'Sleeping, join to start', '/^(sleeping|starting)\\b/i'],
  ])('is asleep and not up by %s, although the proxy answers queries', async (_, motd, asleepMotd) => {
    const snapshot = await watch(motd, asleepMotd)
    expect(snapshot).toMatchObject({ up: false, polls: { asleep: 1 } })
    expect(isAsleep(snapshot)).toBe(true)
    const states = [{ state: 'failed', error: { code: 'asleep' } }, { state: 'ok' }]
    expect(snapshot.sources).toMatchObject(states)
  })

  it('is not up before its first status either, although the proxy has answered a query', async () => {
    let answer = () => {}
    const queried = new Promise<void>((resolve) => {
      answer = resolve
    })
    await using proxy = await hostileServer((socket) => {
      queried.then(() => socket.end(encodeStatus('{"description":"Asleep"}')))
    })
    const watcher = await createWatcher('', 'Asleep', proxy.port)
    const seen: [up: unknown, contact: unknown][] = []
    watcher.subscribe(({ sources, up, lastContact }) => {
      if (sources[1]?.state !== 'ok') return
      seen.push([up, lastContact])
      answer()
    })
    await watcher.poll()
    expect(seen).toEqual([
      [undefined, undefined],
      [false, undefined],
    ])
  })

  it('is not asleep by another message', async () => {
    const snapshot = await watch('A Minecraft Server', 'asleep')
    expect(snapshot.up).toBe(true)
    expect(isAsleep(snapshot)).toBe(false)
  })
})

it('settings that do not fit are named', () => {
  const env = {
    MC_SERVER: 'mc.example.org',
    MC_HOSTNAME: 'a b',
    MC_PROXY_PROTOCOL: 'v3',
    MC_ASLEEP_MOTD: '/(/',
    MC_VIA: 'http://user:secret@proxy',
    MC_VIA_CREDENTIALS: 'nobody',
  }
  let message = ''
  try {
    loadConfig({ env })
  } catch (error) {
    message = String(error) + JSON.stringify(error)
  }
  for (const name of Object.keys(env).slice(1)) expect(message).toContain(name)
  expect(message).not.toMatch(/secret@|nobody/)
})

it('settings of a server are read', () => {
  const env = {
    MC_SERVER: 'mc.example.org',
    MC_HOSTNAME: 'lobby.example.org',
    MC_PROXY_PROTOCOL: 'v2',
    MC_ASLEEP_MOTD: 'asleep',
    MC_VIA: 'socks5://proxy.example.org',
    MC_VIA_CREDENTIALS: 'user:pass:word',
  }
  expect(loadConfig({ env }).servers[0]).toMatchObject({
    sources: { status: { hostname: 'lobby.example.org', proxyProtocol: 'v2', asleepMotd: 'asleep' } },
    via: { protocol: 'socks5', host: 'proxy.example.org', port: 1080 },
    viaCredentials: { user: 'user', password: 'pass:word' },
  })
})
