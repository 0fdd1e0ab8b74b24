import { serverFamilies } from '../../../exporter/families/index.ts'
import { createFleetWriter } from '../../../exporter/fleet-text.ts'
import type { Look } from './look.ts'

const families = serverFamilies.filter(({ perPoll }) => perPoll)

/** The metrics of several servers in the text format of Prometheus. */
export function prometheusText(results: readonly Look[]): string {
  const distinct = new Map(results.map(({ snapshot }) => [snapshot.server, snapshot]))
  return Buffer.concat([...createFleetWriter(families)(distinct.values(), 'prometheus')]).toString()
}
