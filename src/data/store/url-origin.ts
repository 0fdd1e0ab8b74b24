import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolder } from '../../util/create-folder.ts'
import { readFileUpTo, writeAtomic } from '../../util/files.ts'
import { HttpClient, type HttpClientOptions, type HttpError, shortName, takeAuthorization } from '../../util/http-client.ts'
import { textAt } from '../../util/is-record.ts'
import { parseJson } from '../../util/json.ts'
import type { Log } from '../../util/log.ts'
import type { Origin } from './origin.ts'
import { maxSnapshotBytes, SnapshotError } from './read-snapshot.ts'

/** Maximum size of the first line of a copy, which has the ETag: Node.js accepts 16 KiB of headers. */
const maxHeadBytes = 64 * 1024

interface UrlOriginOptions extends Partial<Pick<HttpClientOptions, 'timeoutMs' | 'maxBytes'>> {
  readonly database: string
  readonly url: string
  /** Milliseconds between two requests. */
  readonly interval: number
  /** Folder for a copy of the last valid snapshot. */
  readonly cacheDir: string
  /** The folder is below a world-writable one: use a copy only if the folder belongs to this user. */
  readonly distrusted?: boolean
  readonly log: Log
}

/** A URL, which several replicas may share. The last valid text is copied to the disk, so that a start does not depend on the URL. */
export function urlOrigin(options: UrlOriginOptions): Origin {
  const { database, url, interval, cacheDir, distrusted, log, timeoutMs = 60_000, maxBytes = maxSnapshotBytes } = options
  const target = new URL(url)
  const authorization = takeAuthorization(target)
  // Without redirects, which could lead to a host that the operator did not configure.
  const client = new HttpClient({ timeoutMs, maxBytes })
  const copy = join(cacheDir, `${database}-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.cache`)
  /** Of the text that was read last. */
  let digest: string | undefined

  return {
    kind: 'url',
    name: shortName(target),
    // A query may contain a signature.
    place: `${target.origin}${target.pathname}`,
    interval,
    async read(version) {
      const headers = {
        accept: 'application/json',
        ...(version !== undefined && { 'if-none-match': version }),
        ...(authorization !== undefined && { authorization }),
      }
      const reply = await client.request({ url: target, headers }).catch((error: HttpError) => {
        throw new SnapshotError(reasonOf(error), { cause: error })
      })
      if (reply.status === 304 && version !== undefined) return undefined
      if (reply.headers.location !== undefined) throw new SnapshotError('it cannot be fetched (unexpected redirect)')
      if (reply.status < 200 || reply.status > 299) throw new SnapshotError(`the server answered ${reply.status}`)
      const text = reply.body.toString('utf8')
      // Also servers without ETags, or that do not compare them, reply so.
      const before = digest
      digest = digestOf(text)
      return digest === before ? undefined : { text, version: reply.headers.etag }
    },
    async keep({ text, version: etag }) {
      try {
        await createFolder(cacheDir, 0o700)
        if (distrusted) await assertOwn(cacheDir)
        await writeAtomic(copy, `${JSON.stringify({ etag })}\n${text}`, { mode: 0o600 })
      } catch (error) {
        const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
        const consequence = 'so the next start depends on its URL. Set DATA_DIR to a writable folder'
        log.warn(
          { database, folder: cacheDir, reason },
          `the snapshot is served, but could not be copied to the disk, ${consequence}`,
        )
      }
    },
    async restore() {
      try {
        if (distrusted) await assertOwn(cacheDir)
        const kept = String(await readFileUpTo(copy, maxBytes + maxHeadBytes))
        const end = kept.indexOf('\n')
        const restored = { text: kept.slice(end + 1), version: textAt(parseJson(kept.slice(0, end)), 'etag') }
        digest = digestOf(restored.text)
        return restored
      } catch {
        return undefined
      }
    },
    close: () => client.close(),
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** @throws Error if the folder belongs to another user, who may have put the copy there */
async function assertOwn(folder: string): Promise<void> {
  const { uid } = await stat(folder)
  if (process.getuid !== undefined && uid !== process.getuid()) throw new Error('it belongs to another user')
}

function reasonOf({ kind, code, message }: HttpError): string {
  const isUntrusted = kind === 'network' && /^UNABLE_TO_(?:GET_ISSUER|VERIFY)|SELF_SIGNED_CERT/.test(code)
  if (!isUntrusted) return message.replace(/^the reply has/, 'it has')
  return `the certificate of its server is not trusted (${code}); start with NODE_EXTRA_CA_CERTS=<PEM file of the authority>`
}
