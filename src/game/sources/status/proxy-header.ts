import type net from 'node:net'
import { connected, createDeferredConnection } from '../../deferred-connection.ts'
import type { Network } from '../../network.ts'
import { type ConnectionEnds, encodeProxyHeader, type ProxyProtocolVersion } from '../../protocol/status/proxy-header.ts'

/** Returns a network whose connections start with a PROXY protocol header, for a server behind a load balancer. */
export function withProxyHeader(network: Network, version: ProxyProtocolVersion): Network {
  return {
    ...network,
    connect: (addresses, port) =>
      createDeferredConnection(async (signal) => {
        const socket = await connected(network.connect(addresses, port), signal)
        socket.write(encodeProxyHeader(version, network.tcpOnly ? undefined : endsOf(socket)))
        return { socket, remoteAddress: socket.remoteAddress }
      }),
  }
}

function endsOf({ localAddress, localPort, remoteAddress, remotePort }: net.Socket): ConnectionEnds | undefined {
  if (localAddress === undefined || localPort === undefined || remoteAddress === undefined || remotePort === undefined) {
    return undefined
  }
  return { localAddress, localPort, remoteAddress, remotePort }
}
