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
import { datasource, type PanelOptions, type Queries, steps, targets } from './panel.ts'

const legend = () =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .calcs(['lastNotNull', 'max'])

/** Values over time, one line per query and series. */
export function timeseries(
  title: string,
  description: string,
  queries: Queries,
  options: PanelOptions & {
    readonly stacked?: boolean
    /** Whether a dashed line shows the thresholds. */
    readonly line?: boolean
    /** Whether the values may be negative; otherwise the axis begins at 0. */
    readonly isSigned?: boolean
  } = {},
) {
  const panel = new TimeseriesBuilder()
    .title(title)
    .description(description)
    .datasource(datasource)
    .unit(options.unit ?? 'short')
    .targets(targets(queries).map((one) => one.range()))
    .thresholds(steps(options.thresholds))
    .legend(legend())
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .showPoints(VisibilityMode.Never)
    .lineWidth(1)
    .fillOpacity(options.stacked ? 25 : 8)
    .span(options.width ?? 12)
    .height(options.height ?? 8)
  if (!options.isSigned) panel.min(0)
  if (options.decimals !== undefined) panel.decimals(options.decimals)
  if (options.stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'))
  if (options.line) panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed))
  return panel
}
