import type { ServerSnapshot } from '../src/game/snapshot.ts'
import type { MaintenanceOf } from '../src/util/part-metrics.ts'
import type { Family } from './families/family.ts'
import { type CurrentServer, FamilyText, prepareFamilies } from './family-text.ts'
import { type Format, serverLabel } from './text.ts'

/** Families without the label `server`; their own labels must identify the server. */
export interface UnlabelledFamilies {
  readonly families: readonly Family[]
  /** The labels that identify the server. If several servers have the same labels, only the first is written. */
  readonly identity: (snapshot: ServerSnapshot) => string | undefined
}

/**
 * Writes all families that have a sample, part by part. Each part is rendered when it is requested, so that the caller can let other
 * work run in between. The first parts are empty, until all servers have been read.
 */
export type WriteFleet = (snapshots: Iterable<ServerSnapshot>, format: Format) => Generator<Buffer>

/** Number of servers that are read per part, which takes a few tenths of a millisecond. */
const serversPerPart = 20
const empty = Buffer.alloc(0)

/**
 * The format requires the lines of a family to be adjacent. They are rendered server by server: to read all servers once per
 * family takes longer (`npm run bench -- fleet`), because thousands of snapshots do not fit into the processor's cache. Keeping
 * the lines for the next scrape would take more memory than the rest of the servers.
 * @param families of a server, which get the label `server`
 * @param groupOf returns the group of a server; default: none has one
 * @param maintenanceOf default: it is unknown whether a server is in maintenance
 */
export function createFleetWriter(
  families: readonly Family[],
  unlabelled?: UnlabelledFamilies,
  groupOf: (server: string) => string | undefined = () => undefined,
  maintenanceOf?: MaintenanceOf,
): WriteFleet {
  const all = prepareFamilies([...families, ...(unlabelled?.families ?? [])])

  return function* (snapshots, format) {
    const server: CurrentServer = { number: 0, label: '' }
    const texts = all.map((prepared) => ({ family: prepared.family, text: new FamilyText(server, prepared, format) }))
    const labelled = texts.slice(0, families.length)
    const others = texts.slice(families.length)
    const seen = new Set<string>()
    for (const snapshot of snapshots) {
      server.number++
      server.label = serverLabel(snapshot.server)
      const group = groupOf(snapshot.server)
      const isMaintained = maintenanceOf && maintenanceOf(snapshot.server) !== null
      for (const { family, text } of labelled) family.read(snapshot, text.add, group, isMaintained)
      const identity = unlabelled?.identity(snapshot)
      server.label = ''
      if (identity === undefined || !seen.has(identity)) for (const { family, text } of others) family.read(snapshot, text.add)
      if (identity !== undefined) seen.add(identity)
      if (server.number % serversPerPart === 0) yield empty
    }
    for (const { text } of texts) yield* text.parts()
  }
}
