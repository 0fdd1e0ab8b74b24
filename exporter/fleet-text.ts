import type { ServerSnapshot } from '../src/game/snapshot.ts'
import type { Family } from './families/family.ts'
import { escapeLabel, type Format, familyHeader, sampleLines } from './text.ts'

/** Families without the label `server`, whose own labels must identify the server. */
export interface UnlabelledFamilies {
  readonly families: readonly Family[]
  /** The labels that identify the server: of servers with the same ones only the first one is written. */
  readonly identity: (snapshot: ServerSnapshot) => string | undefined
}

/** The lines of one server. */
interface Rendered {
  /** For each family, in order, as a string of bytes (`latin1`); '' where it has none. */
  readonly chunks: readonly string[]
  readonly length: number
  /** For the families without the label `server`. */
  readonly identity: string | undefined
}

export interface FleetText {
  /** Renders the lines of a server, for a scrape to copy, unless they were rendered before. */
  prepare(snapshot: ServerSnapshot): void
  /** The exposition of all families that have a sample. Read only: returned again while no snapshot is new. */
  bytes(snapshots: readonly ServerSnapshot[], format: Format): Buffer
}

/** Chunks written at once: a call per chunk costs as much as its copy, and a text of all of them would be copied twice. */
const batch = 64

const toBytes = (text: string): string => Buffer.from(text).toString('latin1')
const lengthOf = (parts: readonly string[]): number => parts.reduce((sum, { length }) => sum + length, 0)

/** @param families of a server, which get the label `server` */
export function createFleetText(families: readonly Family[], unlabelled?: UnlabelledFamilies): FleetText {
  const rendered = new WeakMap<ServerSnapshot, Rendered>()
  const all = [...families, ...(unlabelled?.families ?? [])]
  const headers = {
    prometheus: all.map((family) => toBytes(familyHeader(family, 'prometheus'))),
    openmetrics: all.map((family) => toBytes(familyHeader(family, 'openmetrics'))),
  }
  const last: { [F in Format]?: { readonly snapshots: readonly ServerSnapshot[]; readonly bytes: Buffer } } = {}

  function render(snapshot: ServerSnapshot): Rendered {
    const known = rendered.get(snapshot)
    if (known !== undefined) return known
    const label = `server="${escapeLabel(snapshot.server, Number.POSITIVE_INFINITY)}"`
    const chunks = all.map((family, index) => toBytes(sampleLines(family, snapshot, index < families.length ? label : '')))
    const result = { chunks, length: lengthOf(chunks), identity: unlabelled?.identity(snapshot) }
    rendered.set(snapshot, result)
    return result
  }

  /** Those that are the first with their identity. */
  function firsts(servers: readonly Rendered[]): readonly Rendered[] {
    const seen = new Set<string>()
    return servers.filter(({ identity }) => {
      if (identity === undefined || seen.has(identity)) return identity === undefined
      seen.add(identity)
      return true
    })
  }

  /** The format wants the lines of a family together: family by family, the chunk of each server. */
  function assemble(servers: readonly Rendered[], ofFamilies: readonly string[]): Buffer {
    const size = servers.reduce((sum, { length }) => sum + length, lengthOf(ofFamilies))
    const bytes = Buffer.allocUnsafe(size)
    let end = 0
    let pending = ''
    let count = 0
    const add = (chunk: string) => {
      pending += chunk
      if (++count < batch) return
      end += bytes.write(pending, end, 'latin1')
      pending = ''
      count = 0
    }
    const distinct = unlabelled === undefined ? servers : firsts(servers)
    ofFamilies.forEach((header, family) => {
      let hasHeader = false
      for (const { chunks } of family < families.length ? servers : distinct) {
        const chunk = chunks[family]
        if (chunk === undefined || chunk === '') continue
        if (!hasHeader) add(header)
        hasHeader = true
        add(chunk)
      }
    })
    end += bytes.write(pending, end, 'latin1')
    return bytes.subarray(0, end)
  }

  return {
    prepare: render,
    bytes(snapshots, format) {
      const before = last[format]
      if (before?.snapshots.length === snapshots.length && before.snapshots.every((known, index) => known === snapshots[index])) {
        return before.bytes
      }
      const bytes = assemble(snapshots.map(render), headers[format])
      last[format] = { snapshots: [...snapshots], bytes }
      return bytes
    },
  }
}
