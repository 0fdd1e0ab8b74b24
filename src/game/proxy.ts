import { request } from 'node:http'
import type net from 'node:net'
import { type AbortSignalLike, toAbortSignal } from '../util/abortable.ts'
import { formatHostPort, type HostPort } from '../util/address.ts'
import { basicAuthorization } from '../util/basic-authorization.ts'
import { SourceError, type SourceErrorCode, toSourceError } from './errors.ts'
import { addressesOf, type Network } from './network.ts'

/** A SOCKS5 or HTTP proxy through which a server is reached. */
export interface ProxyAddress extends HostPort {
  readonly protocol: 'socks5' | 'http'
}

export interface ProxyCredentials {
  readonly user: string
  readonly password: string
}

const unreachableHint = 'is the proxy running, and is MC_VIA its address?'

/** Hints for what the proxy itself reports; other errors are about the server behind it. */
const hints: Readonly<Partial<Record<SourceErrorCode, string>>> = {
  auth: 'MC_VIA_CREDENTIALS must be user:password as the proxy expects it',
  unsupported: 'is MC_VIA the address of a proxy, with its protocol?',
}

type OpenTunnel = (
  socket: net.Socket,
  destination: HostPort,
  credentials: ProxyCredentials | undefined,
  signal: AbortSignalLike,
) => Promise<net.Socket>

const tunnels: Readonly<Record<ProxyAddress['protocol'], OpenTunnel>> = { socks5: openSocksTunnel, http: openHttpTunnel }

/**
 * A network that connects through a proxy. The proxy also resolves host names; SRV records are resolved locally, since neither
 * protocol supports them. UDP is not supported.
 * @param network used to connect to the proxy
 */
export function createProxyNetwork(proxy: ProxyAddress, credentials: ProxyCredentials | undefined, network: Network): Network {
  const proxyUrl = `${proxy.protocol}://${formatHostPort(proxy)}`

  return {
    lookup: async (host) => [{ address: host, family: 0 }],
    resolveSrv: (name) => network.resolveSrv(name),
    doubt: (name) => network.doubt(name),
    async connect(addresses, port, signal) {
      const destination = { host: addresses[0]?.address ?? '', port }
      let socket: net.Socket | undefined
      try {
        socket = await network.connect(await addressesOf(proxy.host, network, signal), proxy.port, signal)
        return await tunnels[proxy.protocol](socket, destination, credentials, signal)
      } catch (error) {
        socket?.destroy()
        if (signal.aborted) throw signal.reason
        const isReached = socket !== undefined
        const { code, message } = toSourceError(error, isReached ? formatHostPort(destination) : 'the proxy cannot be reached')
        const hint = isReached ? hints[code] : unreachableHint
        throw new SourceError(code, `through the proxy ${proxyUrl}: ${message}`, { cause: error, ...(hint && { hint }) })
      }
    },
    tcpOnly: true,
  }
}

/** The reply codes of RFC 1928, section 6, as they appear in the messages of the library. */
const socksFailures: readonly (readonly [RegExp, SourceError['code'], string])[] = [
  [/ConnectionRefused/, 'refused', 'connection refused'],
  [/NetworkUnreachable|HostUnreachable|TTLExpired/, 'unreachable', 'no route to host'],
  [/NotAllowed/, 'unreachable', 'not allowed by the proxy'],
  [/Authentication failed|no accepted authentication/i, 'auth', 'the proxy rejected the credentials'],
  [/Socket closed/, 'closed', 'the proxy closed the connection'],
  [/Failure|NotSupported/, 'unreachable', 'the proxy could not connect'],
  [/./, 'unsupported', 'the proxy does not speak SOCKS5'],
]

async function openSocksTunnel(
  socket: net.Socket,
  destination: HostPort,
  credentials: ProxyCredentials | undefined,
  signal: AbortSignalLike,
): Promise<net.Socket> {
  const abort = () => socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    // Loaded when needed, because few servers are behind a SOCKS proxy. The library notices only what happens from its call on.
    const { SocksClient } = await import('socks')
    if (socket.destroyed || signal.aborted) throw new Error('Socket closed')
    await SocksClient.createConnection({
      command: 'connect',
      existing_socket: socket,
      // The library requires an address even if a socket is passed.
      proxy: {
        host: 'proxy',
        port: 1,
        type: 5,
        ...(credentials && { userId: credentials.user, password: credentials.password }),
      },
      destination,
    })
    return socket
  } catch (error) {
    const target = formatHostPort(destination)
    const message = error instanceof Error ? error.message : ''
    const [, code, meaning] = socksFailures.find(([pattern]) => pattern.test(message)) ?? [undefined, 'internal', message]
    throw new SourceError(code as SourceError['code'], `${target}: ${meaning}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** RFC 9110, section 9.3.6. */
function openHttpTunnel(
  socket: net.Socket,
  destination: HostPort,
  credentials: ProxyCredentials | undefined,
  signal: AbortSignalLike,
): Promise<net.Socket> {
  const target = formatHostPort(destination)
  const authorization = credentials && basicAuthorization(credentials.user, credentials.password)
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...(authorization !== undefined && { 'proxy-authorization': authorization }) },
      createConnection: () => socket,
      signal: toAbortSignal(signal),
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isHttp = !error.code?.startsWith('HPE_')
      reject(isHttp ? error : new SourceError('unsupported', `${target}: the proxy does not speak HTTP`, { cause: error }))
    })
    // Node.js emits `connect` for every reply to CONNECT, not only for success.
    outgoing.on('connect', ({ statusCode = 0 }, _socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
        return
      }
      // tinyproxy rejects wrong credentials with 401.
      const isRefused = statusCode === 407 || statusCode === 401
      reject(
        new SourceError(
          isRefused ? 'auth' : 'unreachable',
          isRefused
            ? `${target}: the proxy rejected the credentials`
            : `${target}: the proxy could not connect (HTTP ${statusCode})`,
        ),
      )
    })
    outgoing.end()
  })
}
