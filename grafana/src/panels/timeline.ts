import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { PanelBuilder as TimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import { datasource, noData, type PanelOptions, steps, target } from './panel.ts'

/** States over time, one row per series. */
export function timeline(options: PanelOptions & { readonly mappings: readonly ValueMapping[] }) {
  return new TimelineBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit(options.unit)
    .targets(options.queries.map((query, index) => target(query, index).range()))
    .mappings([...options.mappings, noData])
    .thresholds(steps(options.thresholds))
    .mergeValues(true)
    .rowHeight(0.85)
    .span(options.width ?? 24)
    .height(options.height ?? 7)
}
