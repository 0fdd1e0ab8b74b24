import { negotiate } from '../src/http/replies/accept.ts'
import type { Format } from './text.ts'

const formats: Readonly<Record<string, Format>> = {
  'text/plain;version=0.0.4': 'prometheus',
  'application/openmetrics-text;version=1.0.0': 'openmetrics',
}
const offered = Object.keys(formats) as [string, ...string[]]

/** The last header and its format: a scraper sends the same header each time, and parsing it is slow (`npm run bench -- probe`). */
let last: { readonly accept: string | undefined; readonly format: Format } | undefined

/**
 * OpenMetrics if the client prefers it, else the Prometheus text format, even if the client does not accept it: browsers show it.
 */
export function chooseFormat(accept: string | undefined): Format {
  if (last === undefined || last.accept !== accept) {
    last = { accept, format: formats[negotiate(accept, offered)] ?? 'prometheus' }
  }
  return last.format
}
