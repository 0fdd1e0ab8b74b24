import type { SourceErrorCode } from '../../src/game/errors.ts'
import { sources } from '../../src/game/sources/index.ts'
import type { SourceDescriptor } from '../../src/game/sources/source.ts'
import { capitalised, code, marked, table } from './table.ts'

const list: readonly SourceDescriptor[] = sources

/** What each code means; a new code does not compile without an entry. */
const meanings: Readonly<Record<SourceErrorCode, string>> = {
  timeout:
    'no reply before the deadline (`POLL_TIMEOUT`): a firewall that drops packets, a wrong address, or a machine that hangs',
  refused: 'connection refused: no program listens on this port',
  unreachable: 'no route to the host, or a firewall rejects the connection',
  dns: 'the host name does not resolve, or the name server does not answer',
  closed: 'the connection was closed before the reply was complete',
  malformed: 'the reply is not what this protocol sends: usually another program, or the port of another protocol',
  too_large: 'the reply is larger than any real server sends, or takes too long to read',
  auth: 'the password, secret or token was rejected',
  tls: 'the certificate is not trusted, or the server does not use TLS',
  unsupported: 'the server, or the proxy on the way to it, does not support this protocol',
  asleep: 'a proxy answers for the server, which is stopped (`MC_ASLEEP_MOTD`)',
  aborted: 'the poll was stopped because the server is no longer watched, or the service is shutting down',
  exhausted:
    'the server was not asked, because this process has no free file descriptors (or memory): its state becomes unknown, not down. Raise the limit (`ulimit -n`)',
  internal: 'an unexpected error; please report it with the message',
}

const codes = Object.keys(meanings) as readonly SourceErrorCode[]

/** What to check, with the sources that it applies to. */
function checksFor(code: SourceErrorCode): readonly (readonly string[])[] {
  const titles = new Map<string, readonly string[]>()
  for (const { title, hints } of list) {
    const hint = hints[code]
    if (hint !== undefined) titles.set(hint, [...(titles.get(hint) ?? []), title])
  }
  return [...titles].map(([hint, of]) => [of.join(', '), capitalised(marked(hint))])
}

/** Every code of a failed source: what it means, and what to check for each source. A code with the same checks as an earlier one refers to that. */
export function errorCodeSections(): string {
  const firstWith = new Map<string, SourceErrorCode>()
  const sections = codes.map((name) => {
    const rows = checksFor(name)
    const key = JSON.stringify(rows)
    const first = firstWith.get(key)
    if (first === undefined && rows.length > 0) firstWith.set(key, name)
    const checks =
      first === undefined ? table(['source', 'check'], ...rows) : `Check the same as for [${code(first)}](#${first}).`
    return [`### ${code(name)}`, '', `${capitalised(meanings[name])}.`, ...(rows.length === 0 ? [] : ['', checks])].join('\n')
  })
  return sections.join('\n\n')
}
