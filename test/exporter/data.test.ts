import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { comeback, project, snapshot, startDataService } from '../helpers/data-service.ts'
import { parseSamples } from '../helpers/metrics-service.ts'

/** The whole service with these snapshots, and a function that reads the metrics of one database, by name without the prefix. */
async function start(files: Parameters<typeof startDataService>[0]) {
  const service = await startDataService(files)
  onTestFinished(service.close)
  const readMetrics = async (database: string) => {
    const samples = parseSamples(await (await service.get('/metrics')).text())
    return Object.fromEntries(
      samples
        .filter(({ name, labels }) => name.startsWith('tickwarden_snapshot_') && labels === `{database="${database}"}`)
        .map(({ name, value }) => [name.slice('tickwarden_snapshot_'.length), value]),
    )
  }
  return { service, readMetrics }
}

const lastUpdate = { last_update_timestamp_seconds: Date.UTC(2024, 1, 3, 4, 5, 6) / 1000 }

it('counts the entries that are served, without hidden ones', async () => {
  const { service, readMetrics } = await start({
    projects: snapshot([project(), project({ title: 'Compass' }), project({ visible: false }), {}]),
    kcomebacks: snapshot([comeback()]),
  })
  expect(await readMetrics('projects')).toEqual({ up: 1, entries: 2, rejected_entries: 1, ...lastUpdate })
  expect(await readMetrics('kcomebacks')).toEqual({ up: 1, entries: 1, rejected_entries: 0, ...lastUpdate })
  expect((await service.page('/v1/projects/filter/getall?limit=50&offset=0')).count).toBe(2)
})

it('reports a missing or broken snapshot, and no other metric of it', async () => {
  const { readMetrics } = await start({ projects: '[{"last_update": ' })
  expect(await readMetrics('projects')).toEqual({ up: 0 })
  expect(await readMetrics('kcomebacks')).toEqual({ up: 0 })
})

it('reports a removed snapshot while the previous one stays in use, and a new one', async () => {
  const { service, readMetrics } = await start({ projects: snapshot([project()]), kcomebacks: snapshot([comeback()]) })
  const entries = { entries: 1, rejected_entries: 0, ...lastUpdate }
  await rm(join(service.folder, 'projects.json'))
  await service.write('kcomebacks', snapshot([comeback()]).slice(0, -3))
  for (const database of ['projects', 'kcomebacks']) await expect.poll(() => readMetrics(database)).toEqual({ up: 0, ...entries })
  await service.write('projects', snapshot([project()]))
  await service.write('kcomebacks', snapshot([comeback(), comeback()]))
  await expect.poll(() => readMetrics('projects')).toEqual({ up: 1, ...entries })
  await expect.poll(() => readMetrics('kcomebacks')).toEqual({ up: 1, ...entries, entries: 2 })
})
