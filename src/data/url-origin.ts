import { createHash } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, fetch, type Response } from 'undici'
import writeFileAtomic from 'write-file-atomic'
import type { Log } from '../log.ts'
import { version } from '../package.ts'
import { type DatabaseName, largestSnapshot, SnapshotError } from './load.ts'
import type { Origin, SnapshotText } from './origin.ts'

export interface UrlOriginOptions {
  readonly database: DatabaseName
  readonly url: string
  /** Milliseconds between two requests. */
  readonly interval: number
  /** Folder for the last good copy. */
  readonly cacheDir: string
  /** The folder lies in one that everyone can write to: a copy counts only where the folder is this user's own. */
  readonly distrusted?: boolean
  readonly log: Log
  /** Milliseconds that one download may take. */
  readonly timeout?: number
  /** Bytes, unpacked, that are taken at the most. */
  readonly limit?: number
}

/** A URL that many replicas share; the last good copy is kept on disk, so that a start does not depend on it. */
export function urlOrigin({
  database,
  url,
  interval,
  cacheDir,
  distrusted = false,
  log,
  timeout = 60_000,
  limit = largestSnapshot,
}: UrlOriginOptions): Origin {
  const target = new URL(url)
  const authorization = authorizationOf(target)
  target.username = ''
  target.password = ''
  const agent = new Agent({ connect: { timeout: Math.min(timeout, 10_000) } })
  const closing = new AbortController()
  const copy = join(cacheDir, `${database}-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.cache`)
  let etag: string | undefined

  async function keep(text: string, tag: string | undefined): Promise<void> {
    try {
      await mkdir(cacheDir, { recursive: true, mode: 0o700 })
      if (distrusted) await assertOwn(cacheDir)
      await writeFileAtomic(copy, `${JSON.stringify({ etag: tag })}\n${text}`, { mode: 0o600 })
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      log.warn(
        { database, folder: cacheDir, reason },
        'no copy of the snapshot could be kept, so a start needs its URL; it is served all the same. Set DATA_DIR to a folder that this user may write to',
      )
    }
  }

  // A query may hold a signature.
  const shown = `${target.origin}${target.pathname}`
  return {
    kind: 'url',
    name: shown,
    place: shown,
    interval,
    async read(again): Promise<SnapshotText | undefined> {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)])
      let response: Response
      let text: string
      try {
        response = await fetch(target, {
          dispatcher: agent,
          signal,
          // A redirect could lead to a place that the operator did not choose.
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
          throw new SnapshotError(`the server answers ${response.status}`)
        }
        text = await readBody(response, limit)
      } catch (error) {
        if (error instanceof SnapshotError) throw error
        throw new SnapshotError(signal.aborted ? `no whole answer within ${timeout} ms` : unfetched(causeOf(error)))
      }
      // Remembered even if the text turns out broken: there is no use in fetching the same text again.
      const tag = response.headers.get('etag') ?? undefined
      etag = tag
      return { text, accept: () => keep(text, tag) }
    },
    async restore() {
      try {
        if (distrusted) await assertOwn(cacheDir)
        const kept = await readFile(copy, 'utf8')
        const end = kept.indexOf('\n')
        const head = JSON.parse(kept.slice(0, end)) as { readonly etag?: unknown }
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
      await agent.destroy()
    },
  }
}

/** What the user name and the password of a URL say; undefined where it has neither. */
function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** @throws Error where the folder is not this user's own: anybody may have put a copy there */
async function assertOwn(folder: string): Promise<void> {
  const { uid } = await stat(folder)
  if (process.getuid !== undefined && uid !== process.getuid()) throw new Error('it belongs to another user')
}

async function readBody(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > limit) throw new SnapshotError(`it has more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What a certificate of an authority of one's own makes the engine say. */
const distrust = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

function unfetched(cause: string): string {
  if (!distrust.includes(cause)) return `it cannot be fetched (${cause})`
  return `the certificate of its server is not trusted (${cause}); start with NODE_EXTRA_CA_CERTS=<PEM file of the authority>`
}

function causeOf(error: unknown): string {
  const { cause, message } = error as {
    readonly cause?: { readonly code?: string; readonly message?: string }
    readonly message: string
  }
  return cause?.code ?? cause?.message ?? message
}
