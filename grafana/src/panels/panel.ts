import {
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'

/** The datasource that the dashboard's variable `datasource` names. */
export const datasource = { type: 'prometheus', uid: '$' + '{datasource}' }

/** Expressions by Grafana's legend template, such as `{{server}}`. */
export type Queries = Readonly<Record<string, string>>

/** The colour of values from `from` on; the first step has no `from`. */
export interface Threshold {
  readonly from?: number
  readonly colour: 'green' | 'yellow' | 'orange' | 'red' | 'blue' | 'purple' | 'text' | 'transparent'
}

export interface PanelOptions {
  /** A unit id of Grafana: `s`, `percentunit`, `hertz` ...; default `short`. */
  readonly unit?: string
  readonly thresholds?: readonly Threshold[]
  readonly width?: number
  readonly height?: number
  readonly decimals?: number
  readonly mappings?: readonly ValueMapping[]
}

/** Makes a missing value grey instead of the colour of the lowest threshold. */
export const noData: ValueMapping = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text: 'no data', color: 'text', index: 99 } },
}

/** Threshold steps; default: everything green. */
export const steps = (thresholds: readonly Threshold[] = [{ colour: 'green' }]) =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(thresholds.map(({ from, colour }) => ({ value: from ?? null, color: colour })))

export const target = (legend: string, expr: string, index: number) =>
  new DataqueryBuilder()
    .datasource(datasource)
    .refId(String.fromCharCode(65 + index))
    .expr(expr)
    .legendFormat(legend)

export const targets = (queries: Queries) => Object.entries(queries).map(([legend, expr], index) => target(legend, expr, index))

/** Maps numbers to texts and colours. */
export const valueMap = (texts: Readonly<Record<string, readonly [text: string, colour: string]>>): ValueMapping => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(Object.entries(texts).map(([value, [text, color]], index) => [value, { text, color, index }])),
})
