import type { ServerSnapshot } from '../src/game/snapshot.ts'
import type { Family } from './families/family.ts'
import { escapeLabel, type Format, familyHeader, sampleLines } from './text.ts'

/** The lines of a server for each family, in order; '' where it has none. */
type Chunks = readonly string[]

export interface FleetText {
  /** Renders what a scrape will copy, unless it was rendered before. */
  prepare(snapshot: ServerSnapshot): void
  /**
   * The exposition of all families that have a sample, as a string of bytes (`latin1`): the format wants the lines of a
   * family together, and joining byte strings is a copy where joining text would encode it anew.
   */
  bytes(snapshots: readonly ServerSnapshot[], format: Format): string
}

const toBytes = (text: string): string => Buffer.from(text).toString('latin1')

/** @param families of a server; `plain` ones are written without the label `server` */
export function createFleetText(families: readonly Family[], plain: readonly Family[] = []): FleetText {
  const rendered = new WeakMap<ServerSnapshot, Chunks>()
  const escapedNames = new Map<string, string>()
  const all = [...families, ...plain]
  const headers = {
    prometheus: all.map((family) => toBytes(familyHeader(family, 'prometheus'))),
    openmetrics: all.map((family) => toBytes(familyHeader(family, 'openmetrics'))),
  }
  const last: { [F in Format]?: { readonly snapshots: readonly ServerSnapshot[]; readonly text: string } } = {}

  function serverLabel(name: string): string {
    const known = escapedNames.get(name)
    if (known !== undefined) return known
    const label = `server="${escapeLabel(name, Number.POSITIVE_INFINITY)}"`
    escapedNames.set(name, label)
    return label
  }

  function chunksOf(snapshot: ServerSnapshot): Chunks {
    const known = rendered.get(snapshot)
    if (known !== undefined) return known
    const label = serverLabel(snapshot.server)
    const chunks = all.map((family, index) => toBytes(sampleLines(family, snapshot, index < families.length ? label : '')))
    rendered.set(snapshot, chunks)
    return chunks
  }

  return {
    prepare: chunksOf,
    bytes(snapshots, format) {
      const before = last[format]
      const same = before?.snapshots.length === snapshots.length
      if (same && before.snapshots.every((snapshot, index) => snapshot === snapshots[index])) return before.text
      const servers = snapshots.map(chunksOf)
      let text = ''
      headers[format].forEach((header, family) => {
        let lines = ''
        for (const chunks of servers) lines += chunks[family]
        if (lines !== '') text += header + lines
      })
      last[format] = { snapshots: [...snapshots], text }
      return text
    },
  }
}
