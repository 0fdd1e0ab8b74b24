import type { Format } from './text.ts'

interface Choice {
  /** In lower case, without parameters: `text/plain`. */
  readonly value: string
  /** In lower case, without quotes; undefined: any. */
  readonly version: string | undefined
  readonly q: number
}

/** The choices of an `Accept` or `Accept-Encoding` header. Parameters that say nothing of what is served here are ignored. */
function choices(header: string | undefined): readonly Choice[] {
  return (header ?? '').split(',').flatMap((part) => {
    const [value = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (value === '') return []
    const given = new Map(
      parameters.map((parameter) => {
        const [name = '', text = ''] = parameter.split('=', 2).map((piece) => piece.trim())
        return [name, text.replace(/^"(.*)"$/, '$1')]
      }),
    )
    const q = Number(given.get('q') ?? 1)
    return [{ value, version: given.get('version'), q: q >= 0 && q <= 1 ? q : 0 }]
  })
}

/** OpenMetrics for who prefers it, else the Prometheus text format, whatever was asked for: a browser shall see it too. */
export function chooseFormat(accept: string | undefined): Format {
  const given = choices(accept)
  const best = (type: string, version?: string): number | undefined => {
    const fits = given.filter((choice) => choice.value === type && (choice.version ?? version) === version)
    return fits.length === 0 ? undefined : Math.max(...fits.map(({ q }) => q))
  }
  const open = best('application/openmetrics-text', '1.0.0') ?? 0
  const plain = best('text/plain', '0.0.4') ?? best('text/*') ?? best('*/*') ?? 0
  return open > 0 && open >= plain ? 'openmetrics' : 'prometheus'
}

export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const given = choices(acceptEncoding)
  const named = given.find(({ value }) => value === 'gzip' || value === 'x-gzip') ?? given.find(({ value }) => value === '*')
  return named !== undefined && named.q > 0
}
