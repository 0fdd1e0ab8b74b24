import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

export interface HostPort {
  /** Name or IP address, without brackets. */
  readonly host: string
  readonly port: number
}

export interface ServerAddress extends HostPort {
  readonly edition: 'java' | 'bedrock'
}

/** Before the address of a Bedrock server. */
export const bedrockScheme = 'bedrock://'

export const defaultPorts = { java: 25565, bedrock: 19132, rcon: 25575, query: 25565 } as const

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/i

function isName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.')
  // The system would treat `8080` as 0.0.31.144 and `0x7f.1` as 127.0.0.1, which is never intended.
  const isNumber = /^(\d+|0x[0-9a-f]*)$/i.test(labels.at(-1) ?? '')
  return text.length <= 253 && !isNumber && labels.every((part) => label.test(part))
}

/**
 * Converts an international name, or a pattern of names, to Punycode: `xn--mnchen-3ya.example` for `münchen.example`. Any other text is
 * returned unchanged.
 */
export const toAsciiName = (text: string): string =>
  /\P{ASCII}/u.test(text) && /^[\w.*\-\P{ASCII}]+$/u.test(text) ? domainToASCII(text) : text

/**
 * A host name or an IP address, IPv6 with brackets or without; undefined for anything else. White space around it is ignored, and an
 * international name is converted to Punycode.
 */
export function parseHost(given: string): string | undefined {
  const text = given.trim()
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1]
  if (isIPv6(bracketed ?? text)) return bracketed ?? text
  const name = toAsciiName(text)
  return isIPv4(text) || isName(name) ? name : undefined
}

/**
 * `host`, `host:port`, `[IPv6]`, `[IPv6]:port` or a bare IPv6 address; undefined for anything else. White space around it is ignored.
 * @param minPort 0 for addresses to listen on, where the system may choose a port
 */
export function parseHostPort(given: string, defaultPort: number, minPort: 0 | 1 = 1): HostPort | undefined {
  const alone = parseHost(given)
  if (alone !== undefined) return { host: alone, port: defaultPort }
  const [, before = '', digits] = /^(\S*):(\d{1,5})$/.exec(given.trim()) ?? []
  // Without brackets it is ambiguous where an IPv6 address ends.
  const host = isIPv6(before) ? undefined : parseHost(before)
  const port = Number(digits)
  return host !== undefined && port >= minPort && port <= 65535 ? { host, port } : undefined
}

/** Parses the address of a server: like parseHostPort(), plus `bedrock://host[:port]` for the Bedrock edition. */
export function parseServerAddress(given: string): ServerAddress | undefined {
  const text = given.trim()
  const bedrock = text.startsWith(bedrockScheme)
  const edition = bedrock ? 'bedrock' : 'java'
  const parsed = parseHostPort(bedrock ? text.slice(bedrockScheme.length) : text, defaultPorts[edition])
  return parsed && { edition, ...parsed }
}

/** Removes the zone of a link-local IPv6 address, which names an interface of this machine. */
export const withoutZone = (address: string): string => address.split('%', 1)[0] ?? ''

/** Formats as `host:port`, with an IPv6 host in brackets. */
export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The inverse of parseServerAddress(): `host:port`, or `bedrock://host:port` for the Bedrock edition. */
export const formatServerAddress = (address: ServerAddress): string =>
  `${address.edition === 'bedrock' ? bedrockScheme : ''}${formatHostPort(address)}`
