import type { Network } from '../../network.ts'
import { encodeProxyHeader, type ProxyProtocolVersion } from '../../protocol/status/proxy-header.ts'

/** Returns a network whose connections start with a PROXY protocol header, for a server behind a load balancer. */
export function withProxyHeader(network: Network, version: ProxyProtocolVersion): Network {
  return {
    ...network,
    async connect(...args) {
      const socket = await network.connect(...args)
      // The ends of a connection through a proxy are unknown.
      socket.write(encodeProxyHeader(version, network.tcpOnly ? {} : socket))
      return socket
    },
  }
}
