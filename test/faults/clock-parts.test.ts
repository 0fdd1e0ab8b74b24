import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { addNewRecord, type MaintenanceRecord } from '../../src/maintenance/records.ts'
import { clockShim } from '../helpers/clock-shim.ts'
import { startCountedServers } from '../helpers/counted-servers.ts'
import { comeback, snapshot, startDataService } from '../helpers/data-service.ts'
import { openEvents } from '../helpers/event-client.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { type Answer, startReceiver } from '../helpers/notify-receiver.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { shareServers, startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp, type TestApp } from '../helpers/test-app.ts'
import { onTestFinished, separateTestEnds } from '../helpers/test-end.ts'
import { until } from '../helpers/until.ts'

/** What must hold when the clock is set by so many milliseconds. */
type Part = (jump: number) => Promise<void>

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const temporary = () => mkdtempSync(join(tmpdir(), 'tickwarden-clock-'))

/** A process that takes a lock, with what it prints. */
function lockProcess(kind: 'hold' | 'with', path: string, offsetMs: number, stepMs = 0) {
  const script = join(import.meta.dirname, '..', 'helpers', 'lock-child.mjs')
  const child = spawn(process.execPath, [`--import=${clockShim(offsetMs, stepMs)}`, script, kind, path])
  const ended = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return {
    kill,
    setClock: () => void child.kill('SIGWINCH'),
    printed: async (line: string) => {
      await until(() => output.includes('\n'))
      await until(() => output.split('\n').includes(line) || child.exitCode !== null)
      expect(output.split('\n')).toContain(line)
    },
  }
}

const freeLock = (kind: 'hold' | 'with'): Part => {
  return async (jump) => {
    const path = join(temporary(), '.lock')
    const killed = lockProcess(kind, path, 0)
    await killed.printed('held')
    await killed.kill()
    await lockProcess(kind, path, jump).printed('held')
  }
}

/** A service at 22:13:20 with a configuration and one server, on which Alice plays. */
async function start(yaml: string) {
  const folder = temporary()
  const file = join(folder, 'tickwarden.yaml')
  writeFileSync(file, yaml)
  const status = { playersOnline: 1, playersMax: 20 }
  const service = await buildTestApp({
    scripts: { Server: { status } },
    env: { TICKWARDEN_CONFIG: file, DATA_DIR: folder, HISTORY_DIR: folder },
  })
  const events = await openEvents(`${service.url}/api/v1/events`)
  onTestFinished(() => events.close())
  return {
    ...service,
    folder,
    setDown: (isDown: boolean) => {
      service.fleet.scripts.Server = { status: isDown ? new SourceError('refused', 'connection refused') : status }
    },
    /** When maintenance began or ended as clients were told: its end, or null. */
    maintenance: () =>
      events.events.flatMap(({ event, data }) => {
        if (event !== 'change' || !('maintenance' in data)) return []
        return [(data.maintenance as { until: number } | null)?.until ?? null]
      }),
    /** Events of the server besides changes of its values. */
    upAndDown: () => events.events.filter(({ event }) => event === 'up' || event === 'down').map(({ event }) => event),
  }
}

async function pollFor({ fleet, clock, get }: TestApp, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 5 * second) {
    await clock.advance(5 * second)
    await fleet.pollAll()
    // A client of events that reads nothing for two heartbeats, 15 s each, is disconnected.
    if (passed % (15 * second) === 0) await (await get('/healthz')).text()
  }
}

async function isMaintained({ get }: TestApp): Promise<boolean> {
  return /^minecraft_maintenance\{[^}]*\} 1$/m.test(await (await get('/metrics')).text())
}

/** The day on which a service starts. */
const day = '2023-11-14'
const at = (time: string) => Date.parse(`${day}T${time}Z`)
const pollUntil = (service: TestApp, wall: number) => pollFor(service, wall - service.clock.wall())

const window = (lines: string): Part => {
  return async (jump) => {
    const service = await start(`maintenance:\n  - { servers: [Server], reason: backup, ${lines} }\n`)
    await pollUntil(service, at('22:30:00'))
    expect(await isMaintained(service)).toBe(true)
    service.clock.jump(jump)
    await pollFor(service, 5 * second)
    expect(await isMaintained(service)).toBe(false)
    await pollFor(service, jump > 0 ? 5 * minute : 1.5 * hour)
    // By a clock that was set back it has not begun, and begins again.
    const once = [at('22:50:00'), null]
    const expected = jump > 0 ? once : [...once, ...once]
    await until(() => service.maintenance().length >= expected.length)
    expect([service.maintenance(), service.upAndDown()]).toEqual([expected, []])
  }
}

const notified = (more: string, url: string) =>
  `notify: { allowPrivate: true, restartGrace: 0s, ${more}channels: [{ type: webhook, name: ops, url: "${url}" }] }\n`

const parts: Readonly<Record<string, Part>> = {
  async 'a lock that a running process holds stays its own'(jump) {
    const path = join(temporary(), '.lock')
    const holder = lockProcess('hold', path, 0, jump)
    await holder.printed('held')
    holder.setClock()
    await until(() => Math.abs(statSync(path).mtimeMs - Date.now() - jump) < 2 * second)
    await lockProcess('hold', path, jump).printed('ELOCKED')
  },

  async 'a lock of a machine with another clock is kept, or known to be lost'(jump) {
    const path = join(temporary(), '.lock')
    const holder = lockProcess('hold', path, jump)
    await holder.printed('held')
    const other = lockProcess('hold', path, 0)
    if (jump > 0) return other.printed('ELOCKED')
    // It seems to be of a process that was killed long ago.
    await other.printed('held')
    await holder.printed('lost')
  },

  'a lock that is held while a process runs is free once that was killed': freeLock('hold'),
  'a lock that is held during an action is free once its process was killed': freeLock('with'),

  async 'replicas share the servers, although one of them has another clock'(jump) {
    const count = 6
    const [redis, servers] = await Promise.all([startRedis(), startCountedServers(count)])
    const list = servers.addresses.map((address, index) => `  - { name: s${index}, address: "${address}" }\n`).join('')
    const startReplica = (name: string, offsetMs: number) =>
      startService(name, `poll: { interval: 1s, timeout: 30s, staleAfter: 60s }\nservers:\n${list}`, {
        STATE_URL: `redis://127.0.0.1:${redis.port}`,
        STATE_HEARTBEAT: '1s',
        NODE_OPTIONS: `--import=${clockShim(offsetMs, -offsetMs)}`,
      })
    const replicas = await Promise.all([startReplica('a', 0), startReplica('b', jump)])
    const clients = await Promise.all(replicas.map(({ url }) => openEvents(`${url}/api/v1/events`)))
    const check = async () => {
      await until(() => shareServers(replicas, count))
      const before = servers.polls.length
      await until(() => servers.polls.length >= before + 3 * count)
      for (const replica of replicas) {
        expect((await replica.get('/readyz')).status).toBe(200)
        for (let index = 0; index < count; index++) {
          const reply = await replica.get(`/api/v1/servers/s${index}/getall`)
          expect([reply.status, Number(reply.headers.get('x-snapshot-age')) < 10]).toEqual([200, true])
        }
      }
    }
    await check()
    replicas[1]?.child.kill('SIGWINCH')
    await check()
    for (const { events, close } of clients) {
      expect(events.filter(({ event }) => event === 'down')).toEqual([])
      close()
    }
  },

  'a single window of maintenance ends': window(`from: "${day}T22:20:00Z", to: "${day}T22:50:00Z"`),
  'a scheduled window of maintenance ends': window('schedule: "20 22 * * *", duration: 30m'),

  async 'maintenance that a command starts lasts until a command ends it'(jump) {
    const service = await start('maintenance: []\n')
    const command = async (record: object) => {
      const wall = service.clock.wall()
      const added = { id: String(wall), servers: ['Server'], at: wall, ...record } as unknown as MaintenanceRecord
      await addNewRecord(service.folder, added, wall)
    }
    const from = service.clock.wall()
    await command({ kind: 'start', from, to: from + 4 * hour, reason: '' })
    const becomes = (expected: boolean) =>
      until(async () => {
        await pollFor(service, 5 * second)
        return (await isMaintained(service)) === expected
      })
    await becomes(true)
    service.clock.jump(jump)
    await pollFor(service, minute)
    expect(await isMaintained(service)).toBe(true)
    await command({ kind: 'end' })
    await becomes(false)
    // Once more, to a time before the command.
    service.clock.jump(-hour)
    await pollFor(service, 10 * minute)
    expect(await isMaintained(service)).toBe(false)
    // That time comes again.
    service.clock.jump(from + hour - service.clock.wall())
    await pollFor(service, minute)
    expect(await isMaintained(service)).toBe(false)
    await until(() => service.maintenance().length >= 2)
    expect([service.maintenance(), service.upAndDown()]).toEqual([[from + 4 * hour, null], []])
  },

  async 'quiet hours hold back what is told once after them'(jump) {
    const receiver = await startReceiver()
    const service = await start(notified('quietHours: { from: "22:20", to: "22:50", timezone: UTC }, ', receiver.url))
    await pollUntil(service, at('22:25:00'))
    service.setDown(true)
    await pollFor(service, 5 * minute)
    expect(receiver.requests).toEqual([])
    service.clock.jump(jump)
    await until(async () => {
      await pollFor(service, 5 * second)
      return receiver.accepted.length === 1
    })
    // Back in the quiet hours, or an hour after them.
    await pollUntil(service, jump > 0 ? at('23:55:00') : at('22:40:00'))
    service.setDown(false)
    await pollFor(service, hour)
    await until(() => receiver.accepted.length === 2)
    expect(receiver.accepted.map(({ json }) => json.event)).toEqual(['down', 'up'])
  },

  async 'a notification that waits is delivered once'(jump) {
    const receiver = await startReceiver()
    const service = await start(notified('', receiver.url))
    await pollFor(service, minute)
    receiver.answers.push(...Array<Answer>(3).fill((response) => response.writeHead(500).end()))
    service.setDown(true)
    const pollUntilAsked = (count: number) =>
      until(async () => {
        await pollFor(service, 5 * second)
        return receiver.requests.length >= count
      })
    await pollUntilAsked(1)
    service.clock.jump(jump)
    await pollUntilAsked(2)
    service.clock.jump(-jump)
    await pollUntilAsked(4)
    service.setDown(false)
    await pollUntilAsked(5)
    await pollFor(service, 10 * minute)
    expect(receiver.accepted.map(({ json }) => json.event)).toEqual(['down', 'up'])
  },

  async 'data are current, and clients that have older ones are sent the new ones'(jump) {
    const clock = manualClock(200 * 24 * hour)
    const texts = ['A', 'B', 'C'].map((title) => snapshot([comeback({ title })]))
    const service = await startDataService({ kcomebacks: texts[0] }, { clock })
    onTestFinished(() => service.close())
    const path = '/v1/kcomebacks/filter/first'
    const reply = async (since?: string) => {
      const got = await service.get(path, since === undefined ? {} : { headers: { 'if-modified-since': since } })
      return { status: got.status, text: await got.text(), modified: got.headers.get('last-modified') ?? '' }
    }
    let { modified } = await reply()
    for (const [index, title] of ['B', 'C'].entries()) {
      clock.jump(index === 0 ? jump : -jump)
      expect((await reply(modified)).status).toBe(304)
      await service.write('kcomebacks', texts[index + 1]!)
      await until(async () => {
        await clock.advance(2 * second)
        return (await reply()).text.includes(`"${title}"`)
      })
      const next = await reply(modified)
      expect([next.status, Date.parse(next.modified) > Date.parse(modified)]).toEqual([200, true])
      modified = next.modified
    }
    expect((await service.get('/readyz')).status).toBe(200)
  },
}

const needsRedis = Object.keys(parts).filter((name) => name.startsWith('replicas'))

// Concurrent, because most of these tests wait for other processes.
describe.concurrent.each([
  ['forth', hour],
  ['back', -hour],
])('when the clock is set an hour %s', (_direction, jump) => {
  separateTestEnds()

  for (const [name, part] of Object.entries(parts))
    it.skipIf(needsRedis.includes(name) && !hasTool('redis-server'))(name, () => part(jump))
})
