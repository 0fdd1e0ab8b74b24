import type { ServerSnapshot } from '../src/game/snapshot.ts'
import type { Family } from './families/family.ts'
import { escapeLabel, type Format, familyHeader, sampleLines } from './text.ts'

/** Families without the label `server`; their own labels must identify the server. */
export interface UnlabelledFamilies {
  readonly families: readonly Family[]
  /** The labels that identify the server. If several servers have the same labels, only the first is written. */
  readonly identity: (snapshot: ServerSnapshot) => string | undefined
}

export interface FleetText {
  /**
   * The exposition of all families that have a sample, part by part. Each part is rendered when it is requested, so that the
   * caller can let other work run in between.
   */
  parts(snapshots: readonly ServerSnapshot[], format: Format): Generator<string>
}

/** Minimum characters of a part; rendering one takes a few tenths of a millisecond. */
const partLength = 32_768
/** Maximum number of servers per part, even if none of them has a sample. */
const maxServers = 500

/**
 * The format requires the lines of a family to be adjacent, so all servers are read once per family. Caching their lines would
 * take more memory than the rest of the servers (`npm run bench -- metrics`).
 * @param families of a server, which get the label `server`
 */
export function createFleetText(families: readonly Family[], unlabelled?: UnlabelledFamilies): FleetText {
  const all = [...families, ...(unlabelled?.families ?? [])]
  const headersIn = (format: Format) => all.map((family) => familyHeader(family, format))
  const headers = { prometheus: headersIn('prometheus'), openmetrics: headersIn('openmetrics') }

  /** Adds the positions of the first server of each identity to `firsts`; yields an empty part after each `maxServers`. */
  function* findFirsts(snapshots: readonly ServerSnapshot[], firsts: Set<number>): Generator<string> {
    const seen = new Set<string>()
    for (const [index, snapshot] of snapshots.entries()) {
      const identity = unlabelled?.identity(snapshot)
      if (identity === undefined || !seen.has(identity)) firsts.add(index)
      if (identity !== undefined) seen.add(identity)
      if (index % maxServers === maxServers - 1) yield ''
    }
  }

  return {
    *parts(snapshots, format) {
      const labels = snapshots.map(({ server }) => `server="${escapeLabel(server, Number.POSITIVE_INFINITY)}"`)
      const firsts = new Set<number>()
      if (unlabelled !== undefined) yield* findFirsts(snapshots, firsts)
      let part = ''
      for (const [position, family] of all.entries()) {
        const isLabelled = position < families.length
        let hasHeader = false
        let index = 0
        for (const snapshot of snapshots) {
          const lines =
            isLabelled || firsts.has(index) ? sampleLines(family, snapshot, isLabelled ? (labels[index] ?? '') : '') : ''
          if (lines !== '') {
            part += hasHeader ? lines : headers[format][position] + lines
            hasHeader = true
          }
          index++
          if (part.length >= partLength || index % maxServers === 0) {
            yield part
            part = ''
          }
        }
      }
      yield part
    },
  }
}
