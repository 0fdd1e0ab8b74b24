/** The parts of a panel's JSON that the preview draws. */
export interface Panel {
  /** Of a collapsed row. */
  readonly panels?: readonly Panel[]
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly Target[]
}

interface Target {
  readonly expr: string
  readonly legendFormat?: string
  readonly instant?: boolean
}

interface Series {
  readonly metric: Readonly<Record<string, string>>
  /** Unix seconds and value, one pair for an instant query. */
  readonly values: readonly (readonly [number, string])[]
}

/** The result of a query: series, or the error from Prometheus. */
export type QueryResult =
  | { readonly legend: string; readonly series: readonly Series[] }
  | { readonly legend: string; readonly error: string }

export interface Range {
  /** Unix seconds. */
  readonly from: number
  readonly to: number
  /** Seconds between two values. */
  readonly step: number
}

export interface PreviewOptions {
  /** Base URL of Prometheus. */
  readonly prometheus: string
  /** Value of the variable `server`: a name, or a regular expression for several servers. */
  readonly server: string
  readonly range: Range
}

/** The expression with Grafana's variables replaced. */
function withVariables(expr: string, { server, range }: PreviewOptions): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', `${Math.round(range.to - range.from)}s`)
    .replaceAll('$__interval', `${range.step}s`)
    .replaceAll(/\$\{server:regex\}/g, server)
    .replaceAll(/\$\{group:regex\}/g, '.*')
    .replaceAll('$top', '10')
}

async function query(target: Target, options: PreviewOptions): Promise<QueryResult> {
  const legend = target.legendFormat ?? ''
  const { from, to, step } = options.range
  const parameters = new URLSearchParams({ query: withVariables(target.expr, options) })
  if (target.instant) parameters.set('time', String(to))
  else for (const [name, value] of Object.entries({ start: from, end: to, step })) parameters.set(name, String(value))
  const path = target.instant ? 'query' : 'query_range'
  const reply = await fetch(`${options.prometheus}/api/v1/${path}?${parameters}`, { signal: AbortSignal.timeout(30_000) })
  const body = (await reply.json()) as { error?: string; data?: { result: readonly RawSeries[] } }
  if (body.data === undefined) return { legend, error: body.error ?? `HTTP ${reply.status}` }
  return {
    legend,
    series: body.data.result.map(({ metric, value, values }) => ({ metric, values: values ?? (value ? [value] : []) })),
  }
}

interface RawSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly value?: readonly [number, string]
  readonly values?: readonly (readonly [number, string])[]
}

/** The result of each query of a panel, in order. */
export const queryPanel = (panel: Panel, options: PreviewOptions): Promise<QueryResult[]> =>
  Promise.all((panel.targets ?? []).map((target) => query(target, options)))
