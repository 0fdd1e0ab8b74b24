import type { DiscoveryView } from '../src/discovery/status.ts'
import type { Fleet } from '../src/game/fleet.ts'
import type { PollSettings } from '../src/game/server-settings.ts'
import type { Histogram } from '../src/util/histogram.ts'
import type { ChannelMetrics, DataMetrics, LiveMetrics, ReplicaMetrics } from '../src/util/part-metrics.ts'
import { partFamilies } from './families/index.ts'
import { createExposition } from './family-text.ts'
import type { WriteFleet } from './fleet-text.ts'
import { histogramText, nameLookupFamily, pollDelayFamily } from './histogram-text.ts'
import type { HttpHistogram } from './http-histogram.ts'
import { createProcessMetrics } from './process-metrics.ts'
import { endings, type Format } from './text.ts'

/** What the metrics are about. Parts that are absent are not exported. */
export interface ObservedParts {
  readonly fleet: Fleet
  readonly data?: DataMetrics
  readonly live?: LiveMetrics
  /** The notification channels. */
  readonly channels?: () => readonly ChannelMetrics[]
  /** With several replicas, only the servers that this one polls are exported. */
  readonly replica?: { readonly metrics: () => ReplicaMetrics; readonly isPolledHere: (server: string) => boolean }
  readonly discovery?: DiscoveryView
}

interface RenderedParts extends ObservedParts {
  readonly writeFleet: WriteFleet
  readonly poll: PollSettings
  readonly requests: HttpHistogram
  readonly nameLookups: Histogram
  readonly pollDelays: Histogram
}

/** Renders the metrics, part by part. */
export type MetricsRenderer = (format: Format) => Promise<Iterable<Buffer>>

export function createMetricsRenderer(parts: RenderedParts): MetricsRenderer {
  const { fleet, writeFleet, poll, requests, nameLookups, pollDelays, data, live, channels, replica, discovery } = parts
  const writeParts = createExposition(partFamilies, { countsSinceStart: true })
  const writeProcess = createProcessMetrics()
  function* snapshots() {
    for (const watcher of fleet.watchers) {
      if (replica === undefined || replica.isPolledHere(watcher.server)) yield watcher.snapshot()
    }
  }
  return async (format) => {
    const ofProcess = await writeProcess(format)
    function* all() {
      yield* writeFleet(snapshots(), format)
      const observed = { poll, data, live, discovery, channels: channels?.(), replica: replica?.metrics() }
      const histograms = [
        requests.text(format),
        histogramText(nameLookupFamily, nameLookups, format),
        histogramText(pollDelayFamily, pollDelays, format),
      ]
      yield Buffer.from(writeParts(observed, format) + histograms.join('') + ofProcess + endings[format])
    }
    return all()
  }
}
