import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { comeback, project, snapshot, startDataService } from '../helpers/data-service.ts'
import { parseSamples } from '../helpers/metrics-service.ts'

/** The whole service on these snapshots; a function for the figures of one database, by name without the prefix. */
async function start(files: Parameters<typeof startDataService>[0]) {
  const service = await startDataService(files)
  onTestFinished(service.close)
  const figures = async (database: string) => {
    const samples = parseSamples(await (await service.get('/metrics')).text())
    return Object.fromEntries(
      samples
        .filter(({ name, labels }) => name.startsWith('tickwarden_snapshot_') && labels === `{database="${database}"}`)
        .map(({ name, value }) => [name.slice('tickwarden_snapshot_'.length), value]),
    )
  }
  return { service, figures }
}

const lastUpdate = { last_update_timestamp_seconds: Date.UTC(2024, 1, 3, 4, 5, 6) / 1000 }

it('counts the entries that are served, hidden ones not among them', async () => {
  const { service, figures } = await start({
    projects: snapshot([project(), project({ title: 'Compass' }), project({ visible: false }), {}]),
    kcomebacks: snapshot([comeback()]),
  })
  expect(await figures('projects')).toEqual({ up: 1, entries: 2, rejected_entries: 1, ...lastUpdate })
  expect(await figures('kcomebacks')).toEqual({ up: 1, entries: 1, rejected_entries: 0, ...lastUpdate })
  expect((await service.page('/v1/projects/filter/getall?limit=50&offset=0')).count).toBe(2)
})

it('tells of a snapshot that is missing or broken, and of nothing else of it', async () => {
  const { figures } = await start({ projects: '[{"last_update": ' })
  expect(await figures('projects')).toEqual({ up: 0 })
  expect(await figures('kcomebacks')).toEqual({ up: 0 })
})

it('tells of a snapshot that goes away while the one before stays in service, and of its return', async () => {
  const { service, figures } = await start({ projects: snapshot([project()]), kcomebacks: snapshot([comeback()]) })
  const known = { entries: 1, rejected_entries: 0, ...lastUpdate }
  await rm(join(service.folder, 'projects.json'))
  await service.write('kcomebacks', snapshot([comeback()]).slice(0, -3))
  for (const database of ['projects', 'kcomebacks']) await expect.poll(() => figures(database)).toEqual({ up: 0, ...known })
  await service.write('projects', snapshot([project()]))
  await service.write('kcomebacks', snapshot([comeback(), comeback()]))
  await expect.poll(() => figures('projects')).toEqual({ up: 1, ...known })
  await expect.poll(() => figures('kcomebacks')).toEqual({ up: 1, ...known, entries: 2 })
})
