import { readFile } from 'node:fs/promises'
import writeFileAtomic from 'write-file-atomic'

export interface CachedReply {
  readonly etag: string
  readonly body: unknown
}

/** Replies of the run before, by path, to be asked for again with `If-None-Match`. */
export interface ReplyCache {
  get(path: string): CachedReply | undefined
  set(path: string, reply: CachedReply): void
  /**
   * Writes what this run used, and of the run before what it did not come to: a repository that is no longer listed
   * leaves the file.
   * @param isUnread tells of a path whether this run was to ask for it and could not
   */
  save(isUnread: (path: string) => boolean): Promise<void>
}

const isReply = (value: unknown): value is CachedReply =>
  typeof value === 'object' && value !== null && 'etag' in value && typeof value.etag === 'string' && 'body' in value

async function readReplies(file: string, origin: string): Promise<ReadonlyMap<string, CachedReply>> {
  try {
    const parsed = JSON.parse(await readFile(file, 'utf8')) as { origin?: unknown; replies?: Record<string, unknown> } | null
    if (parsed?.origin !== origin) return new Map()
    return new Map(
      Object.entries(parsed.replies ?? {}).flatMap(([path, reply]) => (isReply(reply) ? [[path, reply] as const] : [])),
    )
  } catch {
    // Missing or broken: everything is asked for anew.
    return new Map()
  }
}

/**
 * @param origin base URL that the replies are of; those of another one are not used
 * @param askAnew give none of the run before
 */
export async function openReplyCache(file: string, origin: string, askAnew: boolean): Promise<ReplyCache> {
  const old = await readReplies(file, origin)
  const used = new Map<string, CachedReply>()
  return {
    get: (path) => (askAnew ? undefined : old.get(path)),
    set: (path, reply) => void used.set(path, reply),
    async save(isUnread) {
      const left = [...old].filter(([path]) => isUnread(path))
      await writeFileAtomic(file, JSON.stringify({ origin, replies: Object.fromEntries([...left, ...used]) }))
    },
  }
}
