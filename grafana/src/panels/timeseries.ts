import {
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import { datasource, type PanelOptions, steps, target } from './panel.ts'

const legend = () =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .calcs(['lastNotNull', 'max'])

/** Values over time, one line per query and series. */
export function timeseries(
  options: PanelOptions & { readonly stacked?: boolean; readonly min?: number; readonly line?: boolean },
) {
  const panel = new TimeseriesBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit(options.unit)
    .targets(options.queries.map((query, index) => target(query, index).range()))
    .thresholds(steps(options.thresholds))
    .legend(legend())
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .showPoints(VisibilityMode.Never)
    .lineWidth(1)
    .fillOpacity(options.stacked ? 25 : 8)
    .span(options.width ?? 12)
    .height(options.height ?? 8)
  if (options.min !== undefined) panel.min(options.min)
  if (options.decimals !== undefined) panel.decimals(options.decimals)
  if (options.stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'))
  if (options.line) panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed))
  return panel
}
