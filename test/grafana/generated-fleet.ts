import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { manualClock } from '../helpers/manual-clock.ts'
import { fixedFleet } from '../helpers/metrics-fleet.ts'
import { startMetricsService } from '../helpers/metrics-service.ts'
import { scriptedFleet } from '../helpers/scripted-fleet.ts'

export interface GeneratedFleet {
  readonly servers: number
  /** Half of the time one replica reports a server, then another. */
  readonly hasReplicas: boolean
  readonly minutes: number
  /** Seconds between two scrapes. */
  readonly step: number
}

/** The exposition of one server with all sources, and that of the service itself. */
async function expositions(): Promise<readonly string[]> {
  const fleet = scriptedFleet(fixedFleet(), manualClock())
  const service = await startMetricsService(fleet, {})
  try {
    await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
    return (await service.text()).split('\n')
  } finally {
    await service.close()
  }
}

const bare = (line: string) => line !== '' && !line.startsWith('#')

/**
 * Writes the samples of a fleet of copies of one server as blocks of Prometheus, up to now.
 * @param folder its data folder
 * @returns the time of the last samples, Unix seconds
 */
export async function writeBlocks(folder: string, { servers, hasReplicas, minutes, step }: GeneratedFleet): Promise<number> {
  const lines = (await expositions()).filter(bare)
  const ofServer = lines.filter((line) => line.includes('{server="survival"'))
  const ofService = lines.filter((line) => !line.includes('server="'))
  const end = Math.floor(Date.now() / 1000)
  const count = Math.floor((minutes * 60) / step)
  const times = Array.from({ length: count + 1 }, (_, index) => end - (count - index) * step)
  const replicas = hasReplicas ? ['a:8080', 'b:8080'] : ['a:8080']

  /** The samples of one line: a counter grows, a gauge stays. */
  function* samples(line: string, server: string | undefined): Generator<string> {
    const space = line.lastIndexOf(' ')
    const series =
      server === undefined ? line.slice(0, space) : line.slice(0, space).replace('server="survival"', `server="${server}"`)
    const value = Number(line.slice(space + 1))
    const isCounter = /^[^{]*(_total|_count|_sum|_bucket)(\{|$)/.test(series)
    for (const [half, instance] of replicas.entries()) {
      const own =
        server === undefined
          ? times
          : times.slice((half * times.length) / replicas.length, ((half + 1) * times.length) / replicas.length)
      const labels = `job="tickwarden",instance="${instance}"`
      const name = series.endsWith('}') ? `${series.slice(0, -1)},${labels}}` : `${series}{${labels}}`
      let text = ''
      for (const [index, time] of own.entries()) text += `${name} ${isCounter ? value + index : value} ${time}\n`
      yield text
    }
  }

  function* all(): Generator<string> {
    for (const line of ofService) yield* samples(line, undefined)
    yield* samples('up 1', undefined)
    for (const line of ofServer)
      for (let index = 0; index < servers; index++) yield* samples(line, `server-${String(index).padStart(4, '0')}`)
    yield '# EOF\n'
  }
  const file = join(folder, 'generated.om')
  await pipeline(Readable.from(all()), createWriteStream(file))
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file, join(folder, 'data')], { stdio: 'pipe' })
  return end
}
