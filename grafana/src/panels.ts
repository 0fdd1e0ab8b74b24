import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableSortByFieldStateBuilder,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'

/** The datasource that the dashboard's variable `datasource` names. */
export const datasource = { type: 'prometheus', uid: '$' + '{datasource}' }

export interface Query {
  readonly expr: string
  /** Grafana's legend template: `{{server}}`. */
  readonly legend: string
}

/** The colour of values from `from` on; the first step has no `from`. */
export interface Threshold {
  readonly from?: number
  readonly colour: 'green' | 'yellow' | 'orange' | 'red' | 'blue' | 'purple' | 'text' | 'transparent'
}

interface PanelOptions {
  readonly title: string
  readonly description: string
  /** A unit id of Grafana: `s`, `short`, `percentunit`, `hertz` ... */
  readonly unit: string
  readonly queries: readonly Query[]
  readonly thresholds?: readonly Threshold[]
  readonly width?: number
  readonly height?: number
  readonly decimals?: number
}

/** Makes a missing value grey instead of the colour of the lowest threshold. */
const noData: ValueMapping = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text: 'no data', color: 'text', index: 99 } },
}

const steps = (thresholds: readonly Threshold[] = [{ colour: 'green' }]) =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(thresholds.map(({ from, colour }) => ({ value: from ?? null, color: colour })))

const target = ({ expr, legend }: Query, index: number) =>
  new DataqueryBuilder()
    .datasource(datasource)
    .refId(String.fromCharCode(65 + index))
    .expr(expr)
    .legendFormat(legend)

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

/** One current value. */
export function stat(
  options: PanelOptions & {
    readonly mappings?: readonly ValueMapping[]
    readonly sparkline?: boolean
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
    .targets(
      options.queries.map((query, index) => (options.sparkline ? target(query, index).range() : target(query, index).instant())),
    )
    .thresholds(steps(options.thresholds))
    .mappings([...(options.mappings ?? []), noData])
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields(''))
    .graphMode(options.sparkline ? BigValueGraphMode.Area : BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .noValue(options.whenUnknown ?? 'no data')
    .span(options.width ?? 4)
    .height(options.height ?? 4)
  if (options.decimals !== undefined) panel.decimals(options.decimals)
  if (options.showName) panel.textMode(BigValueTextMode.Name)
  return panel
}

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

export interface Column {
  readonly title: string
  readonly expr: string
  readonly unit: string
  readonly thresholds?: readonly Threshold[]
  readonly decimals?: number
  readonly mappings?: readonly ValueMapping[]
}

/** Current values with one row per value of the label `by` and one column per query. */
export function table(options: {
  readonly title: string
  readonly description: string
  readonly by: string
  readonly byTitle: string
  readonly columns: readonly Column[]
  /** Title of the column to sort by, largest first. */
  readonly sortBy?: string
  readonly link?: { readonly title: string; readonly url: string }
  readonly width?: number
  readonly height?: number
}) {
  const panel = new TableBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit('short')
    .noValue('no data')
    .thresholds(steps([{ colour: 'text' }]))
    .targets(
      options.columns.map(({ expr, title }, index) =>
        target({ expr, legend: title }, index).instant().format(PromQueryFormat.Table),
      ),
    )
    .withTransformation({ id: 'joinByField', options: { byField: options.by, mode: 'outer' } })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(
          ['Time', ...options.columns.map((_, index) => `Time ${index + 1}`)].map((name) => [name, true]),
        ),
        renameByName: {
          [options.by]: options.byTitle,
          ...Object.fromEntries(
            options.columns.map(({ title }, index) => [
              options.columns.length === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`,
              title,
            ]),
          ),
        },
      },
    })
    .span(options.width ?? 24)
    .height(options.height ?? 9)
  for (const { title, unit, thresholds, decimals, mappings } of options.columns) {
    panel.overrideByName(title, [
      { id: 'unit', value: unit },
      ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
      { id: 'mappings', value: [...(mappings ?? []), noData] },
      ...(thresholds === undefined
        ? []
        : [
            { id: 'thresholds', value: steps(thresholds).build() },
            { id: 'custom.cellOptions', value: { type: 'color-text' } },
          ]),
    ])
  }
  if (options.sortBy !== undefined) panel.sortBy([new TableSortByFieldStateBuilder().displayName(options.sortBy).desc(true)])
  if (options.link) panel.overrideByName(options.byTitle, [{ id: 'links', value: [options.link] }])
  return panel
}

/** Current series with one row per series and one column per label. */
export function labelTable(options: {
  readonly title: string
  readonly description: string
  readonly expr: string
  /** Column titles of the visible labels, in order. */
  readonly labels: Readonly<Record<string, string>>
  readonly whenEmpty?: string
  readonly width?: number
  readonly height?: number
}) {
  const labels = Object.entries(options.labels)
  return new TableBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit('short')
    .thresholds(steps([{ colour: 'text' }]))
    .targets([target({ expr: options.expr, legend: options.title }, 0).instant().format(PromQueryFormat.Table)])
    .noValue(options.whenEmpty ?? 'no data')
    .withTransformation({
      id: 'organize',
      options: {
        includeByName: Object.fromEntries(labels.map(([name]) => [name, true])),
        indexByName: Object.fromEntries(labels.map(([name], index) => [name, index])),
        renameByName: options.labels,
      },
    })
    .span(options.width ?? 24)
    .height(options.height ?? 8)
}

/** Maps numbers to texts and colours. */
export const valueMap = (texts: Readonly<Record<string, readonly [text: string, colour: string]>>): ValueMapping => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(Object.entries(texts).map(([value, [text, color]], index) => [value, { text, color, index }])),
})
