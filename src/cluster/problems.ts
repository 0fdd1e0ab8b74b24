import type { Log } from '../util/log.ts'

/** Why the shared state is unavailable. Each kind is logged once until it is resolved. */
export interface StateProblem {
  readonly code: string
  /** What happened and what to do, without secrets. */
  readonly message: string
  /** False if the cause is unknown; the next attempt to connect may reveal it. */
  readonly explains: boolean
}

interface Rule {
  readonly code: string
  readonly pattern: RegExp
  readonly message: string
}

const passwordAdvice = 'set STATE_PASSWORD, or the user and password in STATE_URL'

const closed = 'closed'

/** Matched against the error message, first match wins: Redis has no error codes, and Node's are part of its messages. */
const rules: readonly Rule[] = [
  { code: 'auth', pattern: /^(WRONGPASS|ERR invalid password)/, message: `the password is wrong: ${passwordAdvice}` },
  { code: 'auth', pattern: /^NOAUTH/, message: `it requires a password: ${passwordAdvice}` },
  {
    code: 'permission',
    pattern: /NOPERM|ACL failure/,
    message: 'its ACL forbids a command or key: allow its user the keys ~{<STATE_PREFIX>}*',
  },
  {
    code: 'full',
    pattern: /OOM command not allowed|maxmemory/,
    message: 'it is full: raise its maxmemory, or set maxmemory-policy to volatile-lru',
  },
  {
    code: 'read-only',
    pattern: /READONLY/,
    message: 'it is a read-only replica, perhaps of a failover: STATE_URL must be the address of the primary',
  },
  { code: 'loading', pattern: /LOADING/, message: 'it is loading its data; nothing needs to be done unless that takes minutes' },
  { code: 'no-primary', pattern: /MASTERDOWN|NOREPLICAS|TRYAGAIN/, message: 'it is failing over; check its primary' },
  {
    code: 'disk',
    pattern: /MISCONF/,
    message: 'it refuses writes because it cannot save to disk: check its log, or disable persistence',
  },
  {
    code: 'cluster',
    pattern: /CLUSTERDOWN|MOVED|ASK |SELECT is not allowed in cluster mode/,
    message: 'it is a Redis Cluster, which is not supported: STATE_URL must be the address of a server with cluster-enabled no',
  },
  {
    // A Sentinel has no commands for data.
    code: 'command',
    pattern: /unknown command|Sentinel/,
    message:
      'it lacks a required command, as a Sentinel does, which is not supported: STATE_URL must be the address of the primary (port 6379 by default, not 26379)',
  },
  {
    code: 'database',
    pattern: /DB index is out of range/,
    message: 'the database does not exist: change the number at the end of STATE_URL',
  },
  { code: 'busy', pattern: /BUSY/, message: 'it is busy with a script of another client' },
  {
    code: 'slow',
    pattern: /Command timed out|Socket timeout/,
    message: 'it does not reply in time: check its load (SLOWLOG GET) and the network',
  },
  { code: 'refused', pattern: /ECONNREFUSED/, message: 'connection refused: check STATE_URL, and that the server is running' },
  { code: 'name', pattern: /ENOTFOUND|EAI_AGAIN/, message: 'its host name cannot be resolved: check STATE_URL' },
  {
    code: 'unreachable',
    pattern: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    message:
      'no route to host, or timed out: check STATE_URL and firewalls, and that the server supports TLS if the URL starts with rediss://',
  },
  {
    code: 'tls-expired',
    pattern: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    message: 'its TLS certificate has expired or is not valid yet: renew it, and check the clock of this machine',
  },
  {
    code: 'tls-authority',
    pattern: /UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT/,
    message:
      'its TLS certificate is signed by an unknown authority: set NODE_EXTRA_CA_CERTS to the PEM file of that authority, and restart',
  },
  {
    code: 'tls-name',
    pattern: /ERR_TLS_CERT_ALTNAME_INVALID/,
    message: 'its TLS certificate is for another host: use a host name or address of the certificate in STATE_URL',
  },
  {
    code: 'tls-client',
    pattern: /alert.certificate.required|alert.handshake.failure/i,
    message: 'it requires a client certificate, which is not supported: set tls-auth-clients no in its configuration',
  },
  {
    code: 'tls',
    pattern: /certificate|SSL|TLS|EPROTO/i,
    message:
      'the TLS handshake failed: check that the server supports TLS on this port; without TLS, the URL starts with redis://',
  },
  {
    code: closed,
    pattern: /ECONNRESET|EPIPE|closed|isn't writeable|max retries/i,
    message: 'it closes the connection: check its log. If it requires TLS, STATE_URL must start with rediss://',
  },
]

/** Classifies an error of the client. Messages of the server are not quoted, because they are untrusted. */
export function toStateProblem(given: unknown): StateProblem {
  // The cause of a failed transaction.
  const [error = given] = (given as { readonly previousErrors?: readonly unknown[] } | undefined)?.previousErrors ?? []
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`.trim() : String(error)
  const { code, message } = rules.find(({ pattern }) => pattern.test(text)) ?? {
    code: 'other',
    message: `it replied with an error (${/^[A-Z_]{2,20}\b/.exec(text)?.[0] ?? 'no code'}): check its log`,
  }
  return { code, message, explains: code !== closed }
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
  readonly #problems = new Map<StatePart, StateProblem>()
  /** Codes of those that were logged. */
  readonly #reported = new Set<string>()
  #unexplained = 0

  constructor(log: Log, address: string) {
    this.#log = log
    this.#address = address
  }

  get hasAny(): boolean {
    return this.#problems.size > 0
  }

  of(part: StatePart): StateProblem | undefined {
    return this.#problems.get(part)
  }

  add(part: StatePart, problem: StateProblem): void {
    const before = this.#problems.get(part)
    if (problem.explains || before === undefined) this.#problems.set(part, problem)
    if (part === 'commands' && !problem.explains && !before?.explains) this.#unexplained++
    const isEnough = problem.explains || (this.#reported.size === 0 && this.#unexplained >= maxUnexplained)
    if (this.#reported.has(problem.code) || !isEnough) return
    this.#reported.add(problem.code)
    this.#log.warn(
      { code: problem.code, state: this.#address },
      `The shared state at ${this.#address} is unavailable: ${problem.message}. Until it is back, this replica continues to poll its servers and serves the last known values of the others; it polls those that would become unknown.`,
    )
  }

  /** The part works. */
  remove(part: StatePart): void {
    this.#problems.delete(part)
    // Any successful command shows that the connection for commands works.
    if (part !== 'messages') this.#problems.delete('commands')
    if (this.hasAny) return
    this.#unexplained = 0
    if (this.#reported.size > 0)
      this.#log.info({ state: this.#address }, `The shared state at ${this.#address} is available again.`)
    this.#reported.clear()
  }
}
