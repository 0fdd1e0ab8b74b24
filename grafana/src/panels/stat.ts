import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { datasource, noData, type PanelOptions, type Queries, steps, targets } from './panel.ts'

/**
 * One current value: an instant query, because of a range Grafana would show the last value that is known, even if Tickwarden has
 * been down since.
 */
export function stat(
  title: string,
  description: string,
  queries: Queries,
  options: PanelOptions & {
    readonly showName?: boolean
    /** Shown if no series has a value; default `no data`. */
    readonly whenUnknown?: string
  } = {},
) {
  const panel = new StatBuilder()
    .title(title)
    .description(description)
    .datasource(datasource)
    .unit(options.unit ?? 'short')
    .targets(targets(queries).map((one) => one.instant()))
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
