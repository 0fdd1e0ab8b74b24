import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { createBearerCheck } from '../../http/bearer.ts'
import { parseHostPort } from '../../util/address.ts'
import { RequestError } from '../../util/errors.ts'
import { parseUrl } from '../../util/parse-url.ts'
import { runs } from '../settings.ts'

/** Whether a host name or address is reachable from this machine only. */
const isLoopback = (host: string): boolean =>
  /^localhost\.?$/i.test(host) || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')

/** Headers that proxies and content delivery networks add: the request may come from any machine. */
const proxyHeader = /^(x-)?forwarded|^x-original-|^(via|cdn-loop)$|^cf-|-(client)?ip$/

/** Why a request is not a plain local one; undefined if it is. */
function foreignPart({ headers, raw }: FastifyRequest): string | undefined {
  const { host = '', origin, 'sec-fetch-site': fetchSite } = headers
  // Browsers send Punycode.
  const name = /[^\x21-\x7e]/.test(host) ? undefined : parseHostPort(host, 80)?.host
  if (name === undefined || !isLoopback(name)) return 'its Host header is not a loopback name or address'
  if (raw.isAbsoluteForm) return 'its request line has a whole URL, as if it were sent to a proxy'
  const proxy = Object.keys(headers).find((header) => proxyHeader.test(header))
  if (proxy !== undefined) return `it came through a proxy (header ${proxy})`
  if (origin !== undefined && parseUrl(origin)?.host !== host.toLowerCase()) return 'its Origin header names another site'
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none')
    return 'its Sec-Fetch-Site header names another site'
  return undefined
}

/**
 * Creates the check that protects the script-run routes. With RUN_TOKEN, requests need the token. Without it, only plain local
 * requests are allowed: GET has side effects here, and any web page or DNS rebinding attack could send one from a browser.
 * @param host address that the service listens on
 * @param token undefined if no token is set, which does not change
 * @returns a function that throws for every other request
 * @throws RequestError PROTECTED_MODE (403), UNAUTHORIZED (401)
 */
export function createProtection(host: string, token: () => string | undefined): (request: FastifyRequest) => void {
  const { env } = runs.runToken
  const first = token()
  if (first !== undefined) return createBearerCheck({ token: () => token() ?? first, env, realm: 'script runs' })
  return (request) => {
    const reason = isLoopback(host) ? foreignPart(request) : 'the service can be reached from other machines'
    if (reason === undefined) return
    throw new RequestError(
      403,
      'PROTECTED_MODE',
      `Script runs have side effects, and without ${env} only plain requests from this machine may start them, but ${reason}. Set ${env} and send it as "Authorization: Bearer <${env}>".`,
    )
  }
}
