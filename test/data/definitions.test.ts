import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { data as families } from '../../exporter/families/data.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { DatabaseDefinition } from '../../src/data/databases/definition.ts'
import { databases } from '../../src/data/databases/index.ts'
import { createDataService, registerDataService } from '../../src/data/index.ts'
import { everything } from '../../src/data/routes/filter.ts'
import { scripts } from '../../src/data/scripts/index.ts'
import { noCounts, type Script } from '../../src/data/scripts/script.ts'
import { snapshotPath, writeSnapshot } from '../../src/data/scripts/write-snapshot.ts'
import { createFormat } from '../../src/data/store/fields.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { registerDocs } from '../../src/http/openapi/docs.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { until } from '../helpers/until.ts'

const toys: DatabaseDefinition<{ name: string }> = {
  name: 'toys',
  noun: 'toys',
  format: createFormat({ title: 'Toy', fields: { name: { kind: 'text', required: true } }, example: { name: 'Ball' } }),
  tag: { name: 'toys', description: 'A database of toys' },
  filters: [{ path: 'filter/getall', summary: 'All toys', description: 'One page of all toys.', filter: everything }],
  replies: [],
}
const toyScript: Script = {
  name: 'toys',
  route: '/v1/run/toys',
  summary: 'Start the update of the toys',
  parts: 'toys',
  database: 'toys',
  missingSettings: () => [],
  isConfigured: () => true,
  async run({ values, dataDir, clock, log, force, dryRun, counts }) {
    const path = snapshotPath(toys, values, dataDir)
    const entries = [{ name: 'Ball' }, { name: 'Kite' }]
    counts.added = entries.length
    await writeSnapshot({ values, database: toys, path, entries, wall: clock.wall(), force: force !== false, dryRun, log })
    return { outcome: 'done', errors: [] }
  },
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function start(options: { databases?: readonly DatabaseDefinition[]; scripts?: readonly Script[] }, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const config = loadConfig({ env: { DATA_DIR: folder, UPDATE_SCHEDULE: 'off', ...env } })
  const service = await createDataService({ config, clock: systemClock, log: silentLog, ...options })
  const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
  await registerDocs(app as never, { styles: '', databaseTags: service.tags })
  registerDataService(app as never, service)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  closing.push(async () => {
    await app.close()
    await service.close()
    rmSync(folder, { recursive: true })
  })
  const get = async (path: string) => (await fetch(url + path)).json()
  return { folder, service, get }
}

it('serves a database and a script that are only added to the lists', async () => {
  const { folder, service, get } = await start({
    databases: [...databases, toys],
    scripts: [...scripts, { ...toyScript, isConfigured: () => false }],
  })
  expect(await get('/v1/toys/filter/getall?limit=10&offset=0')).toMatchObject({ status: 503, code: 'SNAPSHOT_UNAVAILABLE' })

  expect(await get('/v1/run/toys')).toEqual({ status: 'udating...' })
  const state = async () => (await get('/v1/run')).scripts.find(({ script }: { script: string }) => script === 'toys')
  await until(async () => (await state()).state === 'succeeded')
  expect(await state()).toMatchObject({ path: '/v1/run/toys', missing: [], outcome: 'done', counts: { ...noCounts, added: 2 } })
  const page = { results: [{ name: 'Ball' }, { name: 'Kite' }], count: 2 }
  expect(await get('/v1/toys/filter/getall?limit=10&offset=0')).toEqual(page)
  expect(readFileSync(join(folder, 'toys.json'), 'utf8')).toContain('{"name":"Kite"}')

  const status = (await get('/v1/status')).databases
  expect(status.map(({ database }: { database: string }) => database)).toEqual(['projects', 'kcomebacks', 'toys'])
  expect(status[2]).toMatchObject({ kind: 'file', source: 'toys.json', state: 'ready', entries: 2 })

  const observed = { poll: { interval: 5_000 }, data: { snapshots: service.store.metrics, scripts: service.runs.metrics } }
  const samples: unknown[] = []
  for (const { name, read } of families) read(observed, (value, ...labels) => samples.push([name, labels.join(), value]))
  expect(samples).toContainEqual(['tickwarden_snapshot_entries', 'toys', 2])
  expect(samples).toContainEqual(['tickwarden_script_runs_total', 'toys,done', 1])

  const { paths, tags } = await get('/openapi.json')
  expect(tags).toContainEqual(toys.tag)
  expect(paths['/v1/toys/filter/getall'].get).toMatchObject({ tags: ['toys'], summary: 'All toys' })
  expect(paths['/v1/run/toys'].get.summary).toBe('Start the update of the toys')
})

it('reports a broken snapshot of an added database without affecting the others', async () => {
  const { folder, get } = await start({ databases: [toys, ...databases], scripts: [] })
  writeFileSync(join(folder, 'toys.json'), '[{"last_update":"2024-01-01 00:00:00 UTC"},{"name":"Ball"},{"name":7}]')
  await until(async () => (await get('/v1/status')).databases[0].state === 'ready')
  expect((await get('/v1/status')).databases[0]).toMatchObject({ entries: 1, rejected: 1 })
})

it('schedules an added script daily', async () => {
  const { service } = await start({ databases: [toys], scripts: [toyScript] }, { UPDATE_SCHEDULE: 'kcomebacks=off' })
  expect(new Date(service.schedule.next('toys') ?? 0).toISOString()).toMatch(/T03:(0\d|1[0-4]):/)
})

it('accepts every script in UPDATE_SCHEDULE, and names and routes are unique', () => {
  for (const { name } of scripts) {
    expect(loadConfig({ env: { UPDATE_SCHEDULE: `${name}=off` } }).runs.updateSchedule).toEqual({ [name]: 'off' })
  }
  const names = databases.map(({ name }) => name)
  for (const { database } of scripts) if (database !== undefined) expect(names).toContain(database)
  expect(new Set(names).size).toBe(names.length)
  expect(new Set(scripts.map(({ route }) => route)).size).toBe(scripts.length)
})
