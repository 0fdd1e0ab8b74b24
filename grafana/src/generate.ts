import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import { fleet } from './fleet.ts'
import { server } from './server.ts'

/**
 * Ids by which links name a panel (`?viewPanel=`): made of what a panel is, so that one that is added or moved leaves those of
 * the others as they are.
 */
function withIds(board: Dashboard): Dashboard {
  const panels = board.panels?.map((panel) => ({ ...panel, id: 1 + (crc32(`${panel.type} ${panel.title}`) % 999_999) }))
  return { ...board, ...(panels && { panels }) }
}

/** Each dashboard's JSON as it stands in grafana/dashboards/, by file name. */
export const dashboards = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ 'fleet.json': fleet(), 'server.json': server() }).map(([file, board]) => [
      file,
      `${JSON.stringify(withIds(board.build()), null, 2)}\n`,
    ]),
  )

if (process.argv[1] === import.meta.filename) {
  const folder = join(import.meta.dirname, '..', 'dashboards')
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(dashboards())) {
    writeFileSync(join(folder, file), text)
    console.log(`grafana/dashboards/${file}`)
  }
}
