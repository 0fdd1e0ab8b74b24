import { serverFamilies } from '../../../exporter/families/index.ts'
import { createFleetText } from '../../../exporter/fleet-text.ts'
import type { Look } from './look.ts'

const families = serverFamilies.filter(({ perPoll }) => perPoll)

/** The metrics of several servers in the text format of Prometheus. */
export function prometheusText(results: readonly Look[]): string {
  const distinct = new Map(results.map(({ snapshot }) => [snapshot.server, snapshot]))
  return Buffer.concat([...createFleetText(families).parts(distinct.values(), 'prometheus')]).toString()
}
