import { formatHostPort, type HostPort } from '../util/address.ts'

/** The service cannot listen on an address or port. The message has the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

export interface ListenSettings {
  /** The setting of the host. */
  readonly host: string
  /** The setting for another address. */
  readonly another: (address: HostPort) => string
}

/** The listen addresses of the service and their settings. */
export const listenSettings = {
  service: { host: 'HOST', another: ({ port }) => `PORT=${port}` },
  metrics: { host: 'the host of METRICS_LISTEN', another: (address) => `METRICS_LISTEN=${formatHostPort(address)}` },
} as const satisfies Record<string, ListenSettings>

function explain(code: string | undefined, { host, port }: HostPort, settings: ListenSettings): string | undefined {
  const shown = formatHostPort({ host, port })
  const another = (other: number) => settings.another({ host, port: other })
  if (code === 'EADDRINUSE') {
    const next = another(port < 65_535 ? port + 1 : 8080)
    return `${shown} is already in use by another program. Stop that program, or choose another port: ${next}`
  }
  if (code === 'EACCES') return `Permission denied to listen on ${shown}. Choose a port above 1023: ${another(8080)}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${host} is not an address of this machine. Set ${settings.host} to one of its addresses, or to 0.0.0.0 for all.`
  return undefined
}

/** Throws the error of listening on an address: a ListenError if the remedy is known, others unchanged. */
export function throwListenError(error: unknown, address: HostPort, settings: ListenSettings): never {
  const message = explain((error as NodeJS.ErrnoException).code, address, settings)
  throw message === undefined ? error : new ListenError(message, { cause: error })
}
