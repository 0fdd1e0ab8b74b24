import type { Log } from '../util/log.ts'

const passwordAdvice = 'set STATE_PASSWORD, or the user and password in STATE_URL'
/** The cause is unknown; the next attempt to connect may reveal it. */
const closed = 'it closes the connection: check its log. If it requires TLS, STATE_URL must start with rediss://'

/**
 * What happened and what to do. Matched against the error message, first match wins: Redis has no error codes, and Node's are part of its
 * messages.
 */
const rules: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/^(WRONGPASS|ERR invalid password)/, `the password is wrong: ${passwordAdvice}`],
  [/^NOAUTH/, `it requires a password: ${passwordAdvice}`],
  [
    /NOPERM|ACL failure|user executing the script/,
    'its ACL forbids a command or key: allow its user ~{<STATE_PREFIX>}* +@read +@write +@scripting +@connection +time +info',
  ],
  [/OOM command not allowed|maxmemory/, 'it is full: raise its maxmemory, or set maxmemory-policy to volatile-lru'],
  [/READONLY/, 'it is a read-only replica, perhaps of a failover: STATE_URL must be the address of the primary'],
  [/LOADING/, 'it is loading its data; nothing needs to be done unless that takes minutes'],
  [/MASTERDOWN|NOREPLICAS|TRYAGAIN/, 'it is failing over; check its primary'],
  [/MISCONF/, 'it refuses writes because it cannot save to disk: check its log, or disable persistence'],
  [
    /CLUSTERDOWN|MOVED|ASK |SELECT is not allowed in cluster mode/,
    'it is a Redis Cluster, which is not supported: STATE_URL must be the address of a server with cluster-enabled no',
  ],
  // A Sentinel has no commands for data.
  [
    /unknown command|Sentinel/,
    'it lacks a required command, as a Sentinel does, which is not supported: STATE_URL must be the address of the primary (port 6379 by default, not 26379)',
  ],
  [/DB index is out of range/, 'the database does not exist: change the number at the end of STATE_URL'],
  [/BUSY/, 'it is busy with a script of another client'],
  [/Command timed out|Socket timeout/, 'it does not reply in time: check its load (SLOWLOG GET) and the network'],
  [/ECONNREFUSED/, 'connection refused: check STATE_URL, and that the server is running'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name cannot be resolved: check STATE_URL'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    'no route to host, or timed out: check STATE_URL and firewalls, and that the server supports TLS if the URL starts with rediss://',
  ],
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    'its TLS certificate has expired or is not valid yet: renew it, and check the clock of this machine',
  ],
  [
    /UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT/,
    'its TLS certificate is signed by an unknown authority: set NODE_EXTRA_CA_CERTS to the PEM file of that authority, and restart',
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    'its TLS certificate is for another host: use a host name or address of the certificate in STATE_URL',
  ],
  [
    /alert.certificate.required|alert.handshake.failure/i,
    'it requires a client certificate, which is not supported: set tls-auth-clients no in its configuration',
  ],
  [
    /certificate|SSL|TLS|EPROTO/i,
    'the TLS handshake failed: check that the server supports TLS on this port; without TLS, the URL starts with redis://',
  ],
  [/ECONNRESET|EPIPE|closed|isn't writeable|max retries/i, closed],
]

/** Describes an error of the client. Messages of the server are not quoted, because they are untrusted. */
function describe(error: unknown): string {
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`.trim() : String(error)
  const code = /^[A-Z_]{2,20}\b/.exec(text)?.[0] ?? 'no code'
  return rules.find(([pattern]) => pattern.test(text))?.[1] ?? `it replied with an error (${code}): check its log`
}

/**
 * Purposes of commands; `commands` and `messages` stand for the two connections themselves. Reads are separate, because a server that is full
 * or a replica accepts them.
 */
export type StatePart = 'commands' | 'messages' | 'reads' | 'heartbeats' | 'snapshots' | 'locks'

/** A closed connection is reported after this many consecutive ones without another reason: a single one may be a restart. */
const maxUnexplained = 4

/** Logs each problem with the shared state once, and when all are resolved. */
export class ProblemReports {
  readonly #log: Log
  readonly #address: string
  /** Why each part does not work. Neither connection works before its first command has succeeded. */
  readonly #problems = new Map<StatePart, string>([
    ['commands', closed],
    ['messages', closed],
  ])
  readonly #reported = new Set<string>()
  #unexplained = 0

  constructor(log: Log, address: string) {
    this.#log = log
    this.#address = address
  }

  /** Whether every part works. */
  get isUp(): boolean {
    return this.#problems.size === 0
  }

  /** What happened and what to do, without secrets: if a command found no connection, why that failed. */
  explain(error: unknown): string {
    const problem = describe(error)
    return problem === closed ? (this.#problems.get('commands') ?? closed) : problem
  }

  add(part: StatePart, error: unknown): void {
    const problem = describe(error)
    const isExplained = problem !== closed
    const before = this.#problems.get(part) ?? closed
    if (isExplained || before === closed) this.#problems.set(part, problem)
    if (part === 'commands' && !isExplained && before === closed) this.#unexplained++
    const isEnough = isExplained || (this.#reported.size === 0 && this.#unexplained >= maxUnexplained)
    if (this.#reported.has(problem) || !isEnough) return
    this.#reported.add(problem)
    this.#log.warn(
      { state: this.#address },
      `The shared state at ${this.#address} is unavailable: ${problem}. Until it is back, this replica continues to poll its servers and serves the last known values of the others. Unless STATE_FAIL_OPEN is false, it also polls those that would become unknown.`,
    )
  }

  /** The part works. */
  remove(part: StatePart): void {
    this.#problems.delete(part)
    // Any successful command shows that the connection for commands works.
    if (part !== 'messages') this.#problems.delete('commands')
    if (!this.isUp) return
    this.#unexplained = 0
    if (this.#reported.size > 0)
      this.#log.info({ state: this.#address }, `The shared state at ${this.#address} is available again.`)
    this.#reported.clear()
  }
}
