import type { Family } from '../../exporter/families/family.ts'
import { partFamilies, serverFamilies } from '../../exporter/families/index.ts'
import { mcMonitor } from '../../exporter/families/mc-monitor.ts'
import { probed } from '../../exporter/families/probed.ts'
import { histogramFamilies } from '../../exporter/histogram-text.ts'
import { code, marked, table } from './table.ts'

type Metric = Pick<Family, 'name' | 'labels' | 'help'> & { readonly type: string }

const metrics: readonly Metric[] = [
  ...serverFamilies.map((family) => ({ ...family, labels: ['server', ...family.labels] })),
  ...probed,
  ...partFamilies,
  ...mcMonitor({ settingsOf: () => undefined }).families,
  ...histogramFamilies,
]

const row = ({ name, type, labels, help }: Metric): readonly string[] => [
  code(name),
  type,
  labels.map(code).join(', '),
  marked(help.replace(/\.$/, '')),
]

/** Every metric with its type, its labels and its HELP text, without those of the process. */
export const metricsTable = (): string => table(['metric', 'type', 'labels', 'meaning'], ...metrics.map(row))
