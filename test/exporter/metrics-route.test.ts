import { once } from 'node:events'
import { get } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import type { AddSample } from '../../exporter/families/family.ts'
import { serverFamilies } from '../../exporter/families/index.ts'
import { createExposition } from '../../exporter/family-text.ts'
import { createFleetWriter } from '../../exporter/fleet-text.ts'
import { toChunks } from '../../exporter/metrics-route.ts'
import { escapeLabel, familyHeader } from '../../exporter/text.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { status } from '../helpers/metrics-fleet.ts'
import { serverPart, startMetricsService } from '../helpers/metrics-service.ts'
import { scriptedFleet } from '../helpers/scripted-fleet.ts'

const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`s"${index} \u00fc`, { status }]))

async function polledFleet() {
  const fleet = scriptedFleet(many, manualClock())
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  return fleet
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

/** Adds the label `server` to each line. */
const withServer = (lines: string, server: string): string =>
  lines.replace(/^(\w+)([{ ])/gm, (_, name, next) => `${name}{server="${escapeLabel(server)}"${next === '{' ? ',' : '} '}`)

/** All at once, family by family. */
function whole(snapshots: readonly ServerSnapshot[]): string {
  const texts = serverFamilies.map((family) => {
    const write = createExposition([{ ...family, help: '' }])
    const linesOf = (snapshot: ServerSnapshot) => write(snapshot, 'prometheus', false).replace(/^#.*\n/gm, '')
    const lines = snapshots.map((snapshot) => withServer(linesOf(snapshot), snapshot.server)).join('')
    return lines === '' ? '' : familyHeader(family, 'prometheus') + lines
  })
  return texts.join('')
}

it('streams the same bytes as without streaming', async () => {
  const fleet = await polledFleet()
  const service = await startMetricsService(fleet)
  onTestFinished(() => service.close())
  const expected = whole(fleet.watchers.map((watcher) => watcher.snapshot()))
  expect(expected.length).toBeGreaterThan(1_048_576)
  for (const encoding of ['identity', 'gzip']) {
    const request = get(`${service.url}/metrics`, { headers: { 'accept-encoding': encoding } })
    const [reply] = await once(request, 'response')
    const bytes = Buffer.concat(await collect<Buffer>(reply))
    expect(reply.headers['transfer-encoding']).toBe('chunked')
    expect(serverPart(String(encoding === 'gzip' ? gunzipSync(bytes) : bytes))).toBe(expected)
  }
})

it('stops rendering when the client disconnects', async () => {
  const service = await startMetricsService(await polledFleet())
  onTestFinished(() => service.close())
  const request = get(`${service.url}/metrics`)
  const [reply] = await once(request, 'response')
  await once(reply, 'data')
  request.destroy()
  expect((await service.get('/metrics')).status).toBe(200)
})

it('lets other work run between the parts that it renders', async () => {
  const fleet = await polledFleet()
  const snapshots = fleet.watchers.map((watcher) => watcher.snapshot())
  const parts = createFleetWriter(serverFamilies, undefined, undefined, () => null)(snapshots, 'prometheus')
  let turns = 0
  const count = setInterval(() => turns++, 0)
  let pauses = 0
  const always = {
    isDue: () => true,
    async take() {
      pauses++
      const before = turns
      while (turns === before) await new Promise((resolve) => setImmediate(resolve))
    },
  }
  const chunks = await collect(toChunks(parts, always))
  clearInterval(count)
  expect(chunks.join('')).toBe(whole(snapshots))
  expect(pauses).toBeGreaterThan(20)
  expect(turns).toBeGreaterThanOrEqual(pauses)
  fleet.close()
})

it('renders no more than is requested', async () => {
  const fleet = await polledFleet()
  let read = 0
  const families = serverFamilies.map((family) => ({
    ...family,
    read(from: ServerSnapshot, add: AddSample) {
      read++
      family.read(from, add)
    },
  }))
  const parts = createFleetWriter(families)(
    fleet.watchers.map((watcher) => watcher.snapshot()),
    'prometheus',
  )
  parts.next()
  expect(read).toBe(20 * serverFamilies.length)
  fleet.close()
})
