import { negotiate } from '../src/http/accept.ts'
import type { Format } from './text.ts'

const formats: Readonly<Record<string, Format>> = {
  'text/plain;version=0.0.4': 'prometheus',
  'application/openmetrics-text;version=1.0.0': 'openmetrics',
}
const offered = Object.keys(formats) as [string, ...string[]]

/**
 * OpenMetrics if the client prefers it, else the Prometheus text format, even if the client does not accept it: browsers show it.
 */
export function chooseFormat(accept: string | undefined): Format {
  return formats[negotiate(accept, offered)] ?? 'prometheus'
}
