import { check, type Static, Type } from '../../../util/schema.ts'
import { readStateFile, writeStateFile } from '../state-file.ts'

/** Some kilobytes for each repository. */
const maxBytes = 64 * 1024 * 1024

const CachedReply = Type.Object({ etag: Type.String(), body: Type.Unsafe<unknown>({}) })
type CachedReply = Static<typeof CachedReply>
const Replies = Type.Object({ origin: Type.String(), replies: Type.Record(Type.String(), Type.Unsafe<unknown>({})) })

/** Replies by path, for requests with `If-None-Match`. */
export type ReplyCache = Map<string, CachedReply>

/** The stored replies; none if they are of another API (base URL) or cannot be read: then everything is requested again. */
export async function readReplies(file: string, origin: string): Promise<ReplyCache> {
  const stored = await readStateFile(file, Replies, maxBytes).catch(() => undefined)
  const replies = Object.entries(stored?.origin === origin ? stored.replies : {})
  return new Map(replies.flatMap(([path, reply]) => (check(CachedReply, reply) ? [[path, reply]] : [])))
}

export const writeReplies = (file: string, origin: string, replies: ReplyCache): Promise<void> =>
  writeStateFile(file, { origin, replies: Object.fromEntries(replies) })
