import type { Family } from '../../exporter/families/family.ts'
import { partFamilies, serverFamilies } from '../../exporter/families/index.ts'
import { mcMonitor } from '../../exporter/families/mc-monitor.ts'
import { probed } from '../../exporter/families/probed.ts'
import { code, marked, table } from './table.ts'

interface Metric {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly help: string
}

const describe = ({ name, type, labels, help }: Pick<Family, 'name' | 'type' | 'labels' | 'help'>): Metric => ({
  name,
  type,
  labels,
  help,
})

const listed: readonly Metric[] = [
  ...serverFamilies.map((family) => ({ ...describe(family), labels: ['server', ...family.labels] })),
  ...[...probed, ...partFamilies, ...mcMonitor({ settingsOf: () => undefined }).families].map(describe),
]

/** The families of an exposition that are in no list: those of the service itself without those of prom-client. */
function ownMetrics(exposition: string): readonly Metric[] {
  const known = new Set(listed.map(({ name }) => name))
  const headers = [...exposition.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n\1(?:_bucket)?(?:\{(.*?)\})? /gm)]
  return headers.flatMap(([, name = '', help = '', type = '', labels = '']) => {
    if (known.has(name) || /^(process|nodejs)_/.test(name)) return []
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le')
    return [{ name, type, labels: names, help }]
  })
}

const row = ({ name, type, labels, help }: Metric): readonly string[] => [
  code(name),
  type,
  labels.map(code).join(', '),
  marked(help.replace(/\.$/, '')),
]

/**
 * Every metric with its type, its labels and its HELP text.
 * @param exposition the text of `/metrics`
 */
export const metricsTable = (exposition: string): string =>
  table(['metric', 'type', 'labels', 'meaning'], ...[...listed, ...ownMetrics(exposition)].map(row))
