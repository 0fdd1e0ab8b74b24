export interface HostPort {
  /** Name or IP address, without brackets. */
  readonly host: string
  readonly port: number
}

export interface ServerAddress extends HostPort {
  readonly edition: 'java' | 'bedrock'
}

export const defaultPorts = { java: 25565, bedrock: 19132, rcon: 25575, query: 25565 } as const

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/i

function isHost(host: string): boolean {
  return (
    host.length <= 253 &&
    host
      .replace(/\.$/, '')
      .split('.')
      .every((part) => label.test(part))
  )
}

/** `host`, `host:port`, `[IPv6]`, `[IPv6]:port` or a bare IPv6 address; undefined for anything else. */
export function parseHostPort(text: string, defaultPort: number): HostPort | undefined {
  const match = /^(?:\[(?<v6>[0-9a-f:.]+(?:%[\w.-]+)?)\]|(?<name>[^:[\]/\s]+))(?::(?<port>\d{1,5}))?$/i.exec(text)
  if (match?.groups === undefined) {
    return /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f.]*$/i.test(text) ? { host: text, port: defaultPort } : undefined
  }
  const { v6, name, port: digits } = match.groups
  if (name !== undefined && !isHost(name)) return undefined
  if (v6 !== undefined && !v6.includes(':')) return undefined
  const port = digits === undefined ? defaultPort : Number(digits)
  if (port < 1 || port > 65535) return undefined
  return { host: v6 ?? name ?? '', port }
}

/** A server's address: as parseHostPort, and `bedrock://host[:port]` for the Bedrock edition. */
export function parseServerAddress(text: string): ServerAddress | undefined {
  const bedrock = text.startsWith('bedrock://')
  const edition = bedrock ? 'bedrock' : 'java'
  const parsed = parseHostPort(bedrock ? text.slice('bedrock://'.length) : text, defaultPorts[edition])
  return parsed && { edition, ...parsed }
}

/** `host:port`, an IPv6 host in brackets. */
export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
