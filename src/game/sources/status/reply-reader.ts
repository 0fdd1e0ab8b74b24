import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Frame } from '../../protocol/frames.ts'
import { decodeStatus, packetIds } from '../../protocol/status.ts'
import { parseStatusReply, type StatusReply } from '../../protocol/status-reply.ts'
import { createIconPool } from './icon-pool.ts'

const icons = createIconPool()

/** Replies to probes by digest, limited by the bytes that were received: the reader of a probe reads only one reply. */
const probed = new LRUCache<string, StatusReply>({ maxSize: 1_048_576, maxEntrySize: 32_768 })

/**
 * Parses the status replies of one server. Equal replies are parsed once (`npm run bench -- status probe`); only a digest is kept.
 * Equal icons are the same Buffer, shared by all servers.
 * @param isProbe whether replies are shared with the readers of other probes
 * @returns a function that throws ProtocolError
 */
export function createReplyReader(isProbe = false): (frame: Frame) => StatusReply {
  let last: { readonly digest: string; readonly reply: StatusReply } | undefined

  function parse(frame: Frame): StatusReply {
    const reply = parseStatusReply(decodeStatus(frame))
    if (reply.favicon === undefined) return reply
    // Not by a spread, as in `java-status.ts`.
    return Object.assign({}, reply, { favicon: icons.share(reply.favicon, last?.reply.favicon) })
  }

  return (frame) => {
    // Any other packet is not a reply; parse() throws.
    if (frame.id !== packetIds.status) return parse(frame)
    const digest = hash('sha1', frame.body, 'base64')
    if (last?.digest === digest) return last.reply
    const known = isProbe ? probed.get(digest) : undefined
    const reply = known ?? parse(frame)
    if (isProbe && known === undefined) probed.set(digest, reply, { size: frame.body.length })
    last = { digest, reply }
    return reply
  }
}
