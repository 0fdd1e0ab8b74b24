import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { datasource, noData, type PanelOptions, steps, target } from './panel.ts'

/**
 * One current value: an instant query, because of a range Grafana would show the last value that is known, even if Tickwarden has
 * been down since.
 */
export function stat(
  options: PanelOptions & {
    readonly mappings?: readonly ValueMapping[]
    readonly showName?: boolean
    /** Shown if no series has a value; default `no data`. */
    readonly whenUnknown?: string
  },
) {
  const panel = new StatBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit(options.unit)
    .targets(options.queries.map((query, index) => target(query, index).instant()))
    .thresholds(steps(options.thresholds))
    .mappings([...(options.mappings ?? []), noData])
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields(''))
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .noValue(options.whenUnknown ?? 'no data')
    .span(options.width ?? 4)
    .height(options.height ?? 4)
  if (options.decimals !== undefined) panel.decimals(options.decimals)
  if (options.showName) panel.textMode(BigValueTextMode.Name)
  return panel
}
