import type { Format } from './text.ts'

interface Choice {
  /** In lower case, with its parameters but `q`: `text/plain;version=0.0.4`. */
  readonly value: string
  readonly q: number
}

/** The choices of an `Accept` or `Accept-Encoding` header. */
function choices(header: string | undefined): readonly Choice[] {
  return (header ?? '').split(',').flatMap((part) => {
    const [value = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase().replaceAll(' ', ''))
    if (value === '') return []
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    const q = given === undefined ? 1 : Number(given)
    const others = parameters.filter((parameter) => !parameter.startsWith('q=') && !parameter.startsWith('charset='))
    return [{ value: [value, ...others].join(';'), q: Number.isFinite(q) ? q : 0 }]
  })
}

const openMetrics = ['application/openmetrics-text', 'application/openmetrics-text;version=1.0.0']

/** OpenMetrics for who prefers it, else the Prometheus text format, whatever was asked for: a browser shall see it too. */
export function chooseFormat(accept: string | undefined): Format {
  const given = choices(accept)
  const best = (fits: (value: string) => boolean) => Math.max(0, ...given.filter(({ value }) => fits(value)).map(({ q }) => q))
  const open = best((value) => openMetrics.includes(value))
  return open > 0 && open >= best((value) => value.startsWith('text/plain')) ? 'openmetrics' : 'prometheus'
}

export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const given = choices(acceptEncoding)
  const named = given.find(({ value }) => value === 'gzip' || value === 'x-gzip') ?? given.find(({ value }) => value === '*')
  return named !== undefined && named.q > 0
}
