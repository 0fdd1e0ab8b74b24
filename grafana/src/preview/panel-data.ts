interface Target {
  readonly expr: string
  readonly legendFormat?: string
  readonly instant?: boolean
}

/** The parts of a panel's JSON that are read here; the page reads the others. */
export interface Panel {
  /** Of a collapsed row. */
  readonly panels?: readonly Panel[]
  readonly targets?: readonly Target[]
}

interface PreviewOptions {
  /** Base URL of Prometheus. */
  readonly prometheus: string
  /** Value of the variable `server`: a name, or a regular expression for several servers. */
  readonly server: string
  /** Unix seconds, and the seconds between two values. */
  readonly range: { readonly from: number; readonly to: number; readonly step: number }
}

/** Unix seconds and value: one pair for an instant query. */
interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value?: readonly [number, string]
  readonly values?: readonly (readonly [number, string])[]
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

/** The series, or the error from Prometheus. */
async function query(target: Target, options: PreviewOptions) {
  const legend = target.legendFormat ?? ''
  const { from, to, step } = options.range
  const parameters = new URLSearchParams({ query: withVariables(target.expr, options) })
  if (target.instant) parameters.set('time', String(to))
  else for (const [name, value] of Object.entries({ start: from, end: to, step })) parameters.set(name, String(value))
  const path = target.instant ? 'query' : 'query_range'
  const reply = await fetch(`${options.prometheus}/api/v1/${path}?${parameters}`, { signal: AbortSignal.timeout(30_000) })
  const body = (await reply.json()) as { error?: string; data?: { result: readonly Series[] } }
  if (body.data === undefined) return { legend, error: body.error ?? `HTTP ${reply.status}` }
  return {
    legend,
    series: body.data.result.map(({ metric, value, values }) => ({ metric, values: values ?? (value ? [value] : []) })),
  }
}

/** The result of each query of a panel, in order. */
export const queryPanel = (panel: Panel, options: PreviewOptions) =>
  Promise.all((panel.targets ?? []).map((target) => query(target, options)))
