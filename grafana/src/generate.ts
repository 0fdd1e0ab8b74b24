import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fleet } from './fleet.ts'
import { server } from './server.ts'

/** Each dashboard's JSON as it stands in grafana/dashboards/, by file name. */
export const dashboards = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ 'fleet.json': fleet(), 'server.json': server() }).map(([file, board]) => [
      file,
      `${JSON.stringify(board.build(), null, 2)}\n`,
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
