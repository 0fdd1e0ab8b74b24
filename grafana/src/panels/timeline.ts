import { PanelBuilder as TimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import { datasource, noData, type PanelOptions, type Queries, steps, targets } from './panel.ts'

/** States over time, one row per series. */
export function timeline(title: string, description: string, queries: Queries, options: PanelOptions) {
  return new TimelineBuilder()
    .title(title)
    .description(description)
    .datasource(datasource)
    .unit(options.unit ?? 'short')
    .targets(targets(queries).map((one) => one.range()))
    .mappings([...(options.mappings ?? []), noData])
    .thresholds(steps(options.thresholds))
    .mergeValues(true)
    .rowHeight(0.85)
    .span(options.width ?? 24)
    .height(options.height ?? 7)
}
