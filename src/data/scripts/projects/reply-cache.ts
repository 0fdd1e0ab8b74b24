import { check, type Static, Type } from '../../../util/schema.ts'
import { readStateFile, writeStateFile } from '../state-file.ts'

/** Some kilobytes for each repository. */
const maxBytes = 64 * 1024 * 1024

const CachedReply = Type.Object({ etag: Type.String(), body: Type.Unsafe<unknown>({}) })
type CachedReply = Static<typeof CachedReply>

const Replies = Type.Object({ origin: Type.String(), replies: Type.Record(Type.String(), Type.Unsafe<unknown>({})) })

/** Replies of the previous run by path, for requests with `If-None-Match`. */
export type ReplyCache = Awaited<ReturnType<typeof openReplyCache>>

/**
 * @param origin base URL of the API; replies of another one are not used
 * @param isFull do not use replies of the previous run
 */
export async function openReplyCache(file: string, origin: string, isFull: boolean) {
  // Too large or unreadable: request everything again.
  const stored = await readStateFile(file, Replies, maxBytes).catch(() => undefined)
  const replies = Object.entries(stored?.origin === origin ? stored.replies : {})
  const old = new Map(replies.flatMap(([path, reply]) => (check(CachedReply, reply) ? [[path, reply]] : [])))
  const used = new Map<string, CachedReply>()
  return {
    get: (path: string) => (isFull ? undefined : old.get(path)),
    set: (path: string, reply: CachedReply) => void used.set(path, reply),
    /**
     * Writes the replies of this run, and those of the previous run for paths that could not be read this time. Replies of
     * repositories that are no longer listed are removed.
     * @param isUnread whether this run should have read a path but could not
     */
    async save(isUnread: (path: string) => boolean) {
      const unread = [...old].filter(([path]) => isUnread(path))
      await writeStateFile(file, { origin, replies: Object.fromEntries([...unread, ...used]) })
    },
  }
}
