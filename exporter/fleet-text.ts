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
/** Maximum number of values that are read per part. */
const maxReads = 500

/** What the families of many servers have, by the position of the family. */
interface Values {
  /** Of families without own labels: the value of each server, NaN if it is unknown. Undefined if no server has one. */
  readonly columns: (Float64Array | undefined)[]
  /** Of families with own labels: whether any server has a sample. */
  readonly hasSamples: boolean[]
}

/**
 * The format requires the lines of a family to be adjacent. Caching their lines would take more memory than the rest of the
 * servers (`npm run bench -- metrics`). The values are collected server by server first: to read all servers once per family takes
 * a third longer (`npm run bench -- fleet`), because thousands of snapshots do not fit into the processor's cache.
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

  /** Adds what each server has to `values`; yields an empty part after each `maxReads` values. */
  function* readValues(snapshots: readonly ServerSnapshot[], { columns, hasSamples }: Values): Generator<string> {
    let reads = 0
    for (const [index, snapshot] of snapshots.entries()) {
      for (const [position, family] of families.entries()) {
        if (family.labels.length > 0) {
          hasSamples[position] ||= family.read(snapshot).length > 0
          continue
        }
        const value = family.read(snapshot)[0]?.value
        if (value === undefined) continue
        const column = columns[position] ?? new Float64Array(snapshots.length).fill(Number.NaN)
        columns[position] = column
        column[index] = value
      }
      reads += families.length
      if (reads + families.length > maxReads) {
        yield ''
        reads = 0
      }
    }
  }

  return {
    *parts(snapshots, format) {
      const labels: string[] = []
      /** What follows the name of a sample without other labels. */
      const suffixes: string[] = []
      for (const { server } of snapshots) {
        const label = `server="${escapeLabel(server, Number.POSITIVE_INFINITY)}"`
        labels.push(label)
        suffixes.push(`{${label}} `)
        if (labels.length % maxServers === 0) yield ''
      }
      const firsts = new Set<number>()
      if (unlabelled !== undefined) yield* findFirsts(snapshots, firsts)
      const values: Values = { columns: [], hasSamples: [] }
      yield* readValues(snapshots, values)
      let part = ''
      for (const [position, family] of all.entries()) {
        const isLabelled = position < families.length
        const column = values.columns[position]
        if (isLabelled && column === undefined && !values.hasSamples[position]) continue
        let hasHeader = false
        let index = 0
        for (const snapshot of snapshots) {
          let lines = ''
          if (column !== undefined) {
            const value = column[index] ?? Number.NaN
            if (Number.isFinite(value)) lines = `${family.name}${suffixes[index]}${value}\n`
          } else if (isLabelled) lines = sampleLines(family, snapshot, labels[index] ?? '')
          else if (firsts.has(index)) lines = sampleLines(family, snapshot, '')
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
