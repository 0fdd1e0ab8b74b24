import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import type { Fleet } from '../../src/game/fleet.ts'
import { type ManualClock, manualClock } from '../helpers/manual-clock.ts'
import { fixedFleet, status } from '../helpers/metrics-fleet.ts'
import { type MetricsService, parseSamples, serverPart, startMetricsService } from '../helpers/metrics-service.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { type Script, scriptedFleet } from '../helpers/scripted-fleet.ts'

const golden = new URL('../fixtures/metrics.golden.txt', import.meta.url)
const openMetrics = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'

/** The Accept header of Prometheus 3. */
const prometheus3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'

let service: MetricsService
let fleet: Fleet
let clock: ManualClock

async function start(script: Script, options: Parameters<typeof startMetricsService>[1] = {}): Promise<void> {
  clock = manualClock()
  fleet = scriptedFleet(script, clock)
  service = await startMetricsService(fleet, options)
}

const pollAll = async () => {
  const polls = fleet.watchers.map((watcher) => watcher.poll())
  await clock.advance(10_000)
  await Promise.all(polls)
}

const data = {
  snapshots: () => [
    { database: 'projects', up: true, entries: 12, rejected: 1, lastUpdate: 1_700_000_000 },
    { database: 'kcomebacks', up: true, entries: 11_870, rejected: 0 },
  ],
  scripts: () => [
    { script: 'projects', running: true, runs: { done: 3, failed: 1 }, lastSuccess: 1_700_000_000, duration: 12.5 },
    { script: 'likedsongs', running: false, runs: {}, authorisationExpires: 1_715_552_000 },
  ],
}

afterEach(() => service.close())

describe('/metrics', () => {
  it('writes a fixed fleet as in the golden file', async () => {
    await start(fixedFleet())
    await pollAll()
    const text = serverPart(await service.text())
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, text)
    expect(text).toBe(readFileSync(golden, 'utf8'))
  })

  it.skipIf(!hasTool('promtool'))('passes promtool check metrics', async () => {
    await start(fixedFleet(), { data })
    await pollAll()
    await service.text()
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await service.text(),
      encoding: 'utf8',
    })
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' })
  })

  it.each([['text/plain'], [openMetrics]])('writes each series once, each family in one piece, as %s', async (accept) => {
    await start(fixedFleet(), { data })
    await pollAll()
    await service.text()
    const text = await service.text('/metrics', { accept })
    const series = parseSamples(text).map(({ name, labels }) => name + labels)
    expect(series.length).toBeGreaterThan(150)
    expect(new Set(series).size).toBe(series.length)
    const families = text.match(/^# TYPE \S+/gm)
    expect(new Set(families).size).toBe(families?.length)
    let current = ''
    for (const line of text.split('\n').filter((line) => line !== '' && line !== '# EOF')) {
      if (line.startsWith('# TYPE ')) current = line.split(' ')[2]!
      else if (!line.startsWith('#')) expect(line.startsWith(current), `${line} under ${current}`).toBe(true)
    }
  })

  it('has the group of each server as a label of minecraft_server_info, whatever its state', async () => {
    clock = manualClock()
    const servers = [
      { name: 'a', group: 'Games "EU"', sources: {} },
      { name: 'b', sources: {} },
    ]
    fleet = scriptedFleet({ a: { status }, b: { status: new SourceError('refused', 'b: refused') } }, clock, servers)
    service = await startMetricsService(fleet)
    const infos = async () => (await service.text()).split('\n').filter((line) => line.startsWith('minecraft_server_info{'))
    const [a, b] = ['minecraft_server_info{server="a",group="Games \\"EU\\""} 1', 'minecraft_server_info{server="b",group=""} 1']
    expect(await infos()).toEqual([])
    await pollAll()
    expect(await infos()).toEqual([a, b])
    fleet.update([{ ...servers[0]!, group: 'Network' }])
    await pollAll()
    expect(await infos()).toEqual(['minecraft_server_info{server="a",group="Network"} 1'])
  })

  it('has separate series of servers whose names differ only in control characters', async () => {
    await start({
      ...{ 'a\u0001b': { status }, 'a\u0002b': { status }, 'a\tb': { status } },
      ...{ 'a\\u0001b': { status }, 'a\\u005cu0001b': { status }, 'a\\b': { status } },
    })
    await pollAll()
    const ups = (await service.text()).split('\n').filter((line) => line.startsWith('minecraft_up{'))
    const labels = ['a\\\\u0001b', 'a\\\\u0002b', 'a\\\\u0009b', 'a\\\\u005cu0001b', 'a\\\\u005cu005cu0001b', 'a\\\\b']
    expect(ups).toEqual(labels.map((label) => `minecraft_up{server="${label}"} 1`))
  })

  it('uses OpenMetrics if the client prefers it', async () => {
    await start(fixedFleet())
    await pollAll()
    const reply = await service.get('/metrics', { accept: openMetrics })
    const text = await reply.text()
    expect(reply.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(text.endsWith('\n# EOF\n')).toBe(true)
    expect(text).toContain('# TYPE minecraft_polls counter\nminecraft_polls_total{server="survival",outcome="ok"} 1\n')
    expect(text).not.toContain('# TYPE minecraft_polls_total')
    expect(text).toMatch(/^tickwarden_poll_delay_seconds_count 0\ntickwarden_poll_delay_seconds_created \d{10}\.\d+$/m)
    // The counter of the game server did not start with this process.
    expect(text).not.toContain('minecraft_ticks_created')
    // A family with a unit ends in its name.
    expect(text).toContain('# TYPE minecraft_poll_duration_seconds gauge\n# UNIT minecraft_poll_duration_seconds seconds\n')
    for (const [, family = '', unit = ''] of text.matchAll(/^# UNIT (\S+) (\S+)$/gm))
      expect(family).toMatch(new RegExp(`_${unit}$`))

    const plain = await service.get('/metrics')
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await plain.text()).toContain('# TYPE minecraft_polls_total counter\n')
    expect(plain.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('writes the bounds of buckets as each format requires', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await start(fixedFleet())
    // Garbage collections are counted after the first one.
    await expect
      .poll(async () => {
        collect()
        return service.text()
      })
      .toContain('nodejs_gc_duration_seconds_bucket')
    const bounds = (text: string, name: string) => [
      ...new Set([...text.matchAll(new RegExp(`^${name}_bucket\\{.*le="(.*?)"`, 'gm'))].map(([, le]) => le)),
    ]
    const [open, plain] = [await service.text('/metrics', { accept: openMetrics }), await service.text()]
    expect(bounds(plain, 'nodejs_gc_duration_seconds')).toEqual(['0.001', '0.01', '0.1', '1', '2', '5', '+Inf'])
    expect(bounds(open, 'nodejs_gc_duration_seconds')).toEqual(['0.001', '0.01', '0.1', '1.0', '2.0', '5.0', '+Inf'])
    expect(bounds(plain, 'http_request_duration_seconds').slice(-5)).toEqual(['1', '2.5', '5', '10', '+Inf'])
    expect(bounds(open, 'http_request_duration_seconds').slice(-5)).toEqual(['1.0', '2.5', '5.0', '10.0', '+Inf'])
  })

  it.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/plain'],
    ['application/openmetrics-text;version=2.0.0', 'text/plain'],
    ['application/openmetrics-text; version=1.0.0; charset=utf-8', 'application/openmetrics-text'],
    [prometheus3, 'application/openmetrics-text'],
    ['Application/OpenMetrics-Text ; Version = "1.0.0" ; escaping=values', 'application/openmetrics-text'],
    ['application/openmetrics-text;version=0.0.1,text/plain;q=0.1', 'text/plain'],
    [
      'application/openmetrics-text;q=0.3,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.2',
      'application/openmetrics-text',
    ],
    ['application/openmetrics-text;q=0.3,*/*;q=0.4', 'text/plain'],
    ['application/openmetrics-text;q=0.3,text/plain;q=0.2,*/*;q=0.4', 'application/openmetrics-text'],
    ['application/openmetrics-text;q=0', 'text/plain'],
    ['application/openmetrics-text;q=0.2,text/plain;q=0.3', 'text/plain'],
    ['image/png', 'text/plain'],
  ])('answers Accept: %s with %s', async (accept, type) => {
    await start({})
    const reply = await service.get('/metrics', { accept })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')?.split(';')[0]).toBe(type)
  })

  it('is compressed only if the client accepts it', async () => {
    await start(fixedFleet())
    await pollAll()
    const raw = (headers: Record<string, string>) =>
      new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
        request(`${service.url}/metrics`, { headers }, (reply) => {
          const pieces: Buffer[] = []
          reply.on('data', (piece: Buffer) => pieces.push(piece))
          reply.on('end', () => resolve({ encoding: reply.headers['content-encoding'], body: Buffer.concat(pieces) }))
        })
          .on('error', reject)
          .end()
      })
    const zipped = await raw({ 'accept-encoding': 'deflate, gzip;q=0.5' })
    expect(zipped.encoding).toBe('gzip')
    expect(serverPart(gunzipSync(zipped.body).toString())).toBe(readFileSync(golden, 'utf8'))
    for (const headers of [{}, { 'accept-encoding': 'gzip;q=0' }, { 'accept-encoding': 'identity' }]) {
      const plain = await raw(headers as Record<string, string>)
      expect(plain.encoding).toBeUndefined()
      expect(serverPart(plain.body.toString())).toBe(readFileSync(golden, 'utf8'))
    }
  })

  it('has no samples of a server before its first poll, and no 0 for unknown values', async () => {
    await start({ survival: { status: { edition: 'java' } } })
    expect(serverPart(await service.text())).toBe('')
    await pollAll()
    const text = await service.text()
    expect(text).toContain('minecraft_up{server="survival"} 1\n')
    expect(text).not.toContain('minecraft_players_online')
    expect(text).not.toContain('minecraft_tick')
  })

  it('keeps the series of a server unchanged when other servers change', async () => {
    const script: Script = { good: { status }, other: { status } }
    await start(script)
    const seriesOf = async (server: string) =>
      (await service.text())
        .split('\n')
        .filter((line) => line.includes(`server="${server}"`) && !/polls_total|timestamp|duration/.test(line))
    await pollAll()
    const before = await seriesOf('good')
    expect(before.length).toBeGreaterThan(5)
    const hostile = {
      version: '\u0000\u0001"}\n# EOF\n',
      software: 'y'.repeat(1_000_000),
      playersOnline: Number.NEGATIVE_INFINITY,
    }
    for (const answer of [new SourceError('malformed', 'other: malformed'), 'never', hostile] as const) {
      script.other = { status: answer }
      await pollAll()
      const text = await service.text()
      parseSamples(text)
      expect(text.length).toBeLessThan(100_000)
      expect(await seriesOf('good')).toEqual(before)
      const up = text.match(/minecraft_up\{server="other"\} (\d)/)?.[1]
      expect(up).toBe(answer === hostile ? '1' : '0')
    }
  })

  it('answers while a server hangs', async () => {
    await start({ good: { status }, hung: { status: 'never' } })
    const hung = fleet.get('hung')!.poll()
    await fleet.get('good')!.poll()
    const text = await service.text()
    expect(text).toContain('minecraft_up{server="good"} 1\n')
    expect(text).not.toContain('server="hung"')
    await clock.advance(5_000)
    await hung
    expect(await service.text()).toContain('minecraft_polls_total{server="hung",outcome="timeout"} 1\n')
  })

  it('drops the gauges of a server that goes down, but no counter', async () => {
    const script: Script = { only: { status, directory: { overloadWarnings: 2 } } }
    await start(script)
    await pollAll()
    expect(await service.text()).toContain('minecraft_players_online{server="only"} 2\n')
    script.only = { ...script.only, status: new SourceError('refused', 'only: refused') }
    await pollAll()
    const text = await service.text()
    expect(text).toContain('minecraft_up{server="only"} 0\n')
    expect(text).not.toMatch(/minecraft_(players_online|version_info|status_latency_seconds)\{/)
    expect(text).toContain('minecraft_overload_warnings_total{server="only"} 2\n')
    expect(text).toContain('minecraft_polls_total{server="only",outcome="ok"} 1\n')
    expect(text).toContain('minecraft_polls_total{server="only",outcome="refused"} 1\n')
  })

  it('has the metrics of the service: build, process and requests by route pattern', async () => {
    await start({})
    await service.get('/metrics')
    await service.get('/nothing/here?secret=1')
    for (const method of ['POST', 'PROPFIND', 'OPTIONS']) await fetch(`${service.url}/metrics`, { method })
    const text = await service.text()
    expect(text).toContain('tickwarden_poll_interval_seconds 5\n')
    expect(text).toMatch(/tickwarden_build_info\{version="\d+\.\d+\.\d+",revision="[0-9a-f]*",node="v\d+\./)
    expect(text).toMatch(/^process_cpu_seconds_total \d/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m)
    expect(text).not.toMatch(/^nodejs_eventloop_lag_(p99|max)_seconds /m)
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/metrics",status_class="2xx"} 1\n')
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="unmatched",status_class="4xx"} 1\n')
    expect(text).toContain('http_request_duration_seconds_count{method="other",route="/metrics",status_class="4xx"} 3\n')
    expect(text).not.toMatch(/method="(POST|PROPFIND|OPTIONS)"/)
    expect(text).not.toContain('nothing')
    const buckets = parseSamples(text).filter(
      ({ name, labels }) => name === 'http_request_duration_seconds_bucket' && labels.includes('method="GET",route="unmatched"'),
    )
    expect(buckets.map(({ value }) => value)).toEqual(buckets.map(({ value }) => value).toSorted((a, b) => a - b))
    expect(buckets.at(-1)).toMatchObject({ value: 1, labels: expect.stringContaining('le="+Inf"') })
  })

  it('has the metrics of the data service, absent if unknown', async () => {
    await start({}, { data })
    const text = await service.text()
    expect(text).toContain('tickwarden_snapshot_entries{database="projects"} 12\n')
    expect(text).toContain('tickwarden_snapshot_rejected_entries{database="projects"} 1\n')
    expect(text).toContain('tickwarden_snapshot_last_update_timestamp_seconds{database="projects"} 1700000000\n')
    expect(text).not.toContain('tickwarden_snapshot_last_update_timestamp_seconds{database="kcomebacks"}')
    expect(text).toContain('tickwarden_script_runs_total{script="projects",outcome="failed"} 1\n')
    expect(text).toContain('tickwarden_script_running{script="projects"} 1\n')
    expect(text).toContain('tickwarden_script_running{script="likedsongs"} 0\n')
    expect(text).not.toContain('tickwarden_script_duration_seconds{script="likedsongs"}')
    expect(text).toContain('tickwarden_script_authorisation_expires_timestamp_seconds{script="likedsongs"} 1715552000\n')
    expect(text).not.toContain('tickwarden_script_authorisation_expires_timestamp_seconds{script="projects"}')
  })

  it('requires the bearer token if one is set', async () => {
    await start({ survival: { status } }, { env: { METRICS_TOKEN: 'let-me-in' } })
    for (const authorization of [undefined, 'Bearer wrong', 'Basic let-me-in', 'Bearer let-me-in2']) {
      const reply = await service.get('/metrics', authorization === undefined ? {} : { authorization })
      expect(reply.status).toBe(401)
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/)
      const body = await reply.text()
      expect(JSON.parse(body)).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(body).not.toContain('let-me-in')
    }
    expect((await service.get('/metrics', { authorization: 'Bearer let-me-in' })).status).toBe(200)
  })
})
