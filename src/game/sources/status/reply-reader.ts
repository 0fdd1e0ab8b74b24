import { hash } from 'node:crypto'
import type { Frame } from '../../protocol/frames.ts'
import { decodeStatus, packetIds } from '../../protocol/status.ts'
import { parseStatusReply, type StatusReply } from '../../protocol/status-reply.ts'
import { createIconPool } from './icon-pool.ts'

const icons = createIconPool()

/**
 * Parses the status replies of one server. Equal replies are parsed once (`npm run bench -- status`); only a digest is kept.
 * Equal icons are the same Buffer, shared by all servers.
 * @returns a function that throws ProtocolError
 */
export function createReplyReader(): (frame: Frame) => StatusReply {
  let last: { readonly digest: string; readonly reply: StatusReply } | undefined
  return (frame) => {
    const digest = frame.id === packetIds.status ? hash('sha1', frame.body, 'base64') : undefined
    if (digest !== undefined && last?.digest === digest) return last.reply
    const read = parseStatusReply(decodeStatus(frame))
    // Not by a spread, as in `java-status.ts`.
    const reply =
      read.favicon === undefined ? read : Object.assign({}, read, { favicon: icons.share(read.favicon, last?.reply.favicon) })
    last = digest === undefined ? undefined : { digest, reply }
    return reply
  }
}
