import writeFileAtomic from 'write-file-atomic'
import { readFileUpTo } from '../../../util/files.ts'
import { isRecord } from '../../../util/is-record.ts'
import { parseJson } from '../../../util/json.ts'

/** Some kilobytes for each repository. */
const maxBytes = 64 * 1024 * 1024

export interface CachedReply {
  readonly etag: string
  readonly body: unknown
}

/** Replies of the previous run by path, for requests with `If-None-Match`. */
export interface ReplyCache {
  get(path: string): CachedReply | undefined
  set(path: string, reply: CachedReply): void
  /**
   * Writes the replies of this run, and those of the previous run for paths that could not be read this time. Replies of
   * repositories that are no longer listed are removed.
   * @param isUnread whether this run should have read a path but could not
   */
  save(isUnread: (path: string) => boolean): Promise<void>
}

const isReply = (value: unknown): value is CachedReply => isRecord(value) && typeof value.etag === 'string' && 'body' in value

async function readReplies(file: string, origin: string): Promise<ReadonlyMap<string, CachedReply>> {
  try {
    const parsed = parseJson(String(await readFileUpTo(file, maxBytes))) as {
      origin?: unknown
      replies?: Record<string, unknown>
    } | null
    if (parsed?.origin !== origin) return new Map()
    return new Map(
      Object.entries(parsed.replies ?? {}).flatMap(([path, reply]) => (isReply(reply) ? [[path, reply] as const] : [])),
    )
  } catch {
    // Missing or broken: request everything again.
    return new Map()
  }
}

/**
 * @param origin base URL of the API; replies of another one are not used
 * @param isFull do not use replies of the previous run
 */
export async function openReplyCache(file: string, origin: string, isFull: boolean): Promise<ReplyCache> {
  const old = await readReplies(file, origin)
  const used = new Map<string, CachedReply>()
  return {
    get: (path) => (isFull ? undefined : old.get(path)),
    set: (path, reply) => void used.set(path, reply),
    async save(isUnread) {
      const unread = [...old].filter(([path]) => isUnread(path))
      await writeFileAtomic(file, JSON.stringify({ origin, replies: Object.fromEntries([...unread, ...used]) }))
    },
  }
}
