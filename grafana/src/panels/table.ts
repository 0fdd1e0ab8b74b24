import { TableFooterOptionsBuilder, TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common'
import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { datasource, noData, steps, type Threshold, target } from './panel.ts'

export interface Column {
  readonly title: string
  readonly expr: string
  /** Default `short`. */
  readonly unit?: string
  readonly thresholds?: readonly Threshold[]
  readonly decimals?: number
  readonly mappings?: readonly ValueMapping[]
}

interface TableOptions {
  readonly title: string
  readonly description: string
  readonly width?: number
  readonly height?: number
  /** Shown if there is no series; default `no data`. */
  readonly whenEmpty?: string
}

type Transformation = Parameters<TableBuilder['withTransformation']>[0]

/** An instant query per column. */
function tableOf(
  options: TableOptions,
  columns: readonly Pick<Column, 'title' | 'expr'>[],
  transformations: readonly Transformation[],
  height: number,
) {
  const panel = new TableBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit('short')
    .noValue(options.whenEmpty ?? 'no data')
    .thresholds(steps([{ colour: 'text' }]))
    .targets(columns.map(({ title, expr }, index) => target(title, expr, index).instant().format(PromQueryFormat.Table)))
  for (const transformation of transformations) panel.withTransformation(transformation)
  return panel
    .span(options.width ?? 24)
    .height(options.height ?? height)
    .footer(new TableFooterOptionsBuilder().enablePagination(true))
}

/** Current values with one row per value of the label `by` and one column per query. */
export function table(
  options: TableOptions & {
    readonly by: string
    readonly byTitle: string
    readonly columns: readonly Column[]
    /** Title of the column to sort by, largest first. */
    readonly sortBy?: string
    readonly link?: { readonly title: string; readonly url: string }
  },
) {
  const { columns, by, byTitle } = options
  const valueName = (index: number) => (columns.length === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`)
  const times = ['Time', ...columns.map((_, index) => `Time ${index + 1}`)]
  const names = columns.map(({ title }, index) => [valueName(index), title])
  const excludeByName = Object.fromEntries(times.map((name) => [name, true]))
  const renameByName = { [by]: byTitle, ...Object.fromEntries(names) }
  const transformations = [
    { id: 'joinByField', options: { byField: by, mode: 'outer' } },
    { id: 'organize', options: { excludeByName, renameByName } },
  ]
  const panel = tableOf(options, columns, transformations, 9)
  for (const { title, unit = 'short', thresholds, decimals, mappings } of columns) {
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
  if (options.link) panel.overrideByName(byTitle, [{ id: 'links', value: [options.link] }])
  return panel
}

/** Current series with one row per series and one column per label. */
export function labelTable(
  options: TableOptions & {
    readonly expr: string
    /** Column titles of the visible labels, in order. */
    readonly labels: Readonly<Record<string, string>>
  },
) {
  const names = Object.keys(options.labels)
  const includeByName = Object.fromEntries(names.map((name) => [name, true]))
  const indexByName = Object.fromEntries(names.map((name, index) => [name, index]))
  const organize = { id: 'organize', options: { includeByName, indexByName, renameByName: options.labels } }
  return tableOf(options, [options], [organize], 8)
}
