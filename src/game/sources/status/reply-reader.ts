import { SourceError } from '../../errors.ts'
import { ProtocolError } from '../../protocol/error.ts'
import type { Frame } from '../../protocol/frames.ts'
import { decodeStatus, packetIds } from '../../protocol/status.ts'
import { parseStatusReply, type StatusReply } from '../../protocol/status-reply.ts'

/** Bytes of a reply that is remembered at most; an icon is a tenth of it. */
const maxKeptBody = 65_536

export interface ReplyReader {
  /** @throws ProtocolError */
  decode(frame: Frame): string
  /** @throws SourceError */
  read(json: string, target: string): StatusReply
}

/**
 * Reads the replies of one server and remembers the last one: a server on which nothing happens sends the same bytes again, and its
 * icon is the same Buffer as long as it has the same bytes, so that what is made from it can be cached.
 */
export function createReplyReader(): ReplyReader {
  let decoded: { readonly body: Buffer; readonly json: string } | undefined
  let last: { readonly json: string; readonly reply: StatusReply } | undefined
  return {
    decode(frame) {
      if (frame.id === packetIds.status && decoded?.body.equals(frame.body)) return decoded.json
      const json = decodeStatus(frame)
      // A copy: the body is a view of all that was received with it.
      decoded = frame.body.length <= maxKeptBody ? { body: Buffer.from(frame.body), json } : undefined
      return json
    },
    read(json, target) {
      if (last?.json === json) return last.reply
      const read = parse(json, target)
      const kept = last?.reply.favicon
      const reply = kept !== undefined && read.favicon?.equals(kept) ? { ...read, favicon: kept } : read
      last = { json, reply }
      return reply
    },
  }
}

function parse(json: string, target: string): StatusReply {
  try {
    return parseStatusReply(json)
  } catch (error) {
    throw error instanceof ProtocolError ? new SourceError(error.code, `${target}: ${error.message}`) : error
  }
}

/** A reader for each of the servers last asked for, at most `maxServers`: for polls by sources that do not live on. */
export function createReplyReaders(maxServers: number): (server: string) => ReplyReader {
  /** The least recently used first. */
  const readers = new Map<string, ReplyReader>()
  return (server) => {
    const reader = readers.get(server) ?? createReplyReader()
    readers.delete(server)
    readers.set(server, reader)
    for (const [oldest] of readers) {
      if (readers.size <= maxServers) break
      readers.delete(oldest)
    }
    return reader
  }
}
