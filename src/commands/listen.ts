import { formatHostPort, type HostPort } from '../game/protocol/address.ts'

/** The service may not have the address that it was told to listen on; the message says which, and what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

export interface ListenSettings {
  /** What to set where the host is wrong. */
  readonly host: string
  /** What to set for another address. */
  readonly another: (address: HostPort) => string
}

/** The addresses of the service, by the settings that they come from. */
export const listenSettings = {
  service: { host: 'HOST', another: ({ port }) => `PORT=${port}` },
  metrics: { host: 'the host of METRICS_LISTEN', another: (address) => `METRICS_LISTEN=${formatHostPort(address)}` },
} as const satisfies Record<string, ListenSettings>

function explain(code: string | undefined, { host, port }: HostPort, settings: ListenSettings): string | undefined {
  const shown = formatHostPort({ host, port })
  const another = (other: number) => settings.another({ host, port: other })
  if (code === 'EADDRINUSE') {
    const next = another(port < 65_535 ? port + 1 : 8080)
    return `${shown} is taken by another program. Stop that one, or choose another port: ${next}`
  }
  if (code === 'EACCES') return `This user may not listen on ${shown}. Choose a port above 1023: ${another(8080)}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `This machine has no address ${host}. Set ${settings.host} to one that it has, or to 0.0.0.0 for all.`
  return undefined
}

/** The system's error as a ListenError with it as the cause, where that can say what to do, else as it is. */
export function toListenError(error: unknown, address: HostPort, settings: ListenSettings): unknown {
  const message = explain((error as NodeJS.ErrnoException).code, address, settings)
  return message === undefined ? error : new ListenError(message, { cause: error })
}

/**
 * Waits for `listening`.
 * @throws ListenError in place of the system's error, where it can say what to do
 */
export async function explained<T>(listening: Promise<T>, address: HostPort, settings: ListenSettings): Promise<T> {
  try {
    return await listening
  } catch (error) {
    throw toListenError(error, address, settings)
  }
}
