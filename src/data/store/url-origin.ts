import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Response } from 'undici'
import writeFileAtomic from 'write-file-atomic'
import { createFolder } from '../../util/create-folder.ts'
import { readFileUpTo } from '../../util/files.ts'
import { parseJson } from '../../util/json.ts'
import type { Log } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { readBody } from '../../util/read-body.ts'
import type { Origin, SnapshotText } from './origin.ts'
import { maxSnapshotBytes, SnapshotError } from './read-snapshot.ts'

/** Maximum size of the first line of a copy, which has the ETag: Node.js accepts 16 KiB of headers. */
const maxHeadBytes = 64 * 1024

export interface UrlOriginOptions {
  readonly database: string
  readonly url: string
  /** Milliseconds between two requests. */
  readonly interval: number
  /** Folder for a copy of the last valid snapshot. */
  readonly cacheDir: string
  /** The folder is below a world-writable one: use a copy only if the folder belongs to this user. */
  readonly distrusted?: boolean
  readonly log: Log
  /** Timeout of one download, milliseconds. */
  readonly timeoutMs?: number
  /** Maximum size of the body, uncompressed. */
  readonly maxBytes?: number
}

/** A URL, which several replicas may share. The last valid text is copied to the disk, so that a start does not depend on the URL. */
export function urlOrigin({
  database,
  url,
  interval,
  cacheDir,
  distrusted = false,
  log,
  timeoutMs = 60_000,
  maxBytes = maxSnapshotBytes,
}: UrlOriginOptions): Origin {
  const target = new URL(url)
  const authorization = authorizationOf(target)
  target.username = ''
  target.password = ''
  // Loaded only if a URL is configured.
  const client = import('undici').then(({ Agent, fetch }) => {
    return { fetch, agent: new Agent({ connect: { timeout: Math.min(timeoutMs, 10_000) } }) }
  })
  const closing = new AbortController()
  const copy = join(cacheDir, `${database}-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.cache`)
  let etag: string | undefined

  async function saveCopy(text: string, tag: string | undefined): Promise<void> {
    try {
      await createFolder(cacheDir, 0o700)
      if (distrusted) await assertOwn(cacheDir)
      await writeFileAtomic(copy, `${JSON.stringify({ etag: tag })}\n${text}`, { mode: 0o600 })
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      log.warn(
        { database, folder: cacheDir, reason },
        'the snapshot is served, but could not be copied to the disk, so the next start depends on its URL. Set DATA_DIR to a writable folder',
      )
    }
  }

  const segments = target.pathname.split('/').filter((segment) => segment !== '')
  // The path of a URL may be secret.
  const name = `${target.host}/${segments.length > 1 ? '.../' : ''}${segments.at(-1) ?? ''}`
  return {
    kind: 'url',
    name,
    // A query may contain a signature.
    place: `${target.origin}${target.pathname}`,
    interval,
    async read(again): Promise<SnapshotText | undefined> {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
      let response: Response
      let text: string
      try {
        const { fetch, agent } = await client
        response = await fetch(target, {
          dispatcher: agent,
          signal,
          // A redirect could lead to a host that the operator did not configure.
          redirect: 'error',
          headers: {
            accept: 'application/json',
            'user-agent': `tickwarden/${version}`,
            ...(etag !== undefined && !again && { 'if-none-match': etag }),
            ...(authorization !== undefined && { authorization }),
          },
        })
        if (response.status === 304) return undefined
        if (!response.ok) {
          await response.body?.cancel()
          throw new SnapshotError(`the server answered ${response.status}`)
        }
        const body = response.body === null ? Buffer.alloc(0) : await readBody(response.body, maxBytes)
        if (body === undefined) throw new SnapshotError(`it has more than ${maxBytes} bytes`)
        text = body.toString('utf8')
      } catch (error) {
        if (error instanceof SnapshotError) throw error
        const reason = signal.aborted ? `no complete reply within ${timeoutMs} ms` : fetchFailure(causeOf(error))
        throw new SnapshotError(reason, { cause: error })
      }
      // Also for a text that is not valid: fetching the same text again is useless.
      const tag = response.headers.get('etag') ?? undefined
      etag = tag
      return { text, accept: () => saveCopy(text, tag) }
    },
    async restore() {
      try {
        if (distrusted) await assertOwn(cacheDir)
        const kept = String(await readFileUpTo(copy, maxBytes + maxHeadBytes))
        const end = kept.indexOf('\n')
        const head = parseJson(kept.slice(0, end)) as { readonly etag?: unknown }
        return {
          text: kept.slice(end + 1),
          async accept() {
            if (typeof head.etag === 'string') etag = head.etag
          },
        }
      } catch {
        return undefined
      }
    },
    async close() {
      closing.abort()
      await (await client).agent.destroy()
    },
  }
}

/** The Authorization header for the user name and password of a URL; undefined if it has neither. */
function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** @throws Error if the folder belongs to another user, who may have put the copy there */
async function assertOwn(folder: string): Promise<void> {
  const { uid } = await stat(folder)
  if (process.getuid !== undefined && uid !== process.getuid()) throw new Error('it belongs to another user')
}

/** Error codes for certificates of a private authority. */
const untrustedCodes = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

function fetchFailure(cause: string): string {
  if (!untrustedCodes.includes(cause)) return `it cannot be fetched (${cause})`
  return `the certificate of its server is not trusted (${cause}); start with NODE_EXTRA_CA_CERTS=<PEM file of the authority>`
}

function causeOf(error: unknown): string {
  const { cause, message } = error as {
    readonly cause?: { readonly code?: string; readonly message?: string }
    readonly message: string
  }
  return cause?.code ?? cause?.message ?? message
}
