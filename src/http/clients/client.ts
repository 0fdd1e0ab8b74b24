import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { parseHostPort } from '../../util/address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Identifies the client, see clientOf(): that of the proxy's request if it came through a trusted proxy. */
    readonly client: string
  }
}

/**
 * Identifies a client by its address. All addresses of a /64 network are one client, because a provider assigns each customer at
 * least that. An IPv4-mapped IPv6 address is the IPv4 address.
 */
export function clientOf(address: string): string {
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** The address without a port, which some proxies add; undefined for anything else. */
function addressIn(text: string): string | undefined {
  const host = isIP(text) > 0 ? text : parseHostPort(text, 0)?.host
  return host !== undefined && isIP(host) > 0 ? host : undefined
}

function clientOfRequest({ ip, raw }: Pick<FastifyRequest, 'ip'> & { readonly raw: IncomingMessage }): string {
  const address = addressIn(ip) ?? raw.socket.remoteAddress
  return address === undefined ? '' : clientOf(address)
}

export function registerClient(app: FastifyInstance): void {
  app.decorateRequest('client', {
    getter() {
      return clientOfRequest(this)
    },
  })
}
