import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Frame } from '../../protocol/status/frames.ts'
import { decodeStatus, packetIds } from '../../protocol/status/status.ts'
import { parseStatusReply, type StatusReply } from '../../protocol/status/status-reply.ts'
import { type Measure, unmeasured } from '../source.ts'
import { shareIcon } from './icon-pool.ts'

/** Replies to probes by digest, limited by the bytes that were received: the reader of a probe reads only one reply. */
const probed = new LRUCache<string, StatusReply>({ maxSize: 1_048_576, maxEntrySize: 32_768 })

/**
 * Parses the status replies of one server.
 * Equal replies are parsed once (`npm run bench -- status probe`); only a digest is kept. Equal icons are the same Buffer, shared by
 * all servers.
 * @param isProbe whether replies are shared with the readers of other probes
 */
export class ReplyReader {
  readonly #isProbe: boolean
  readonly #measure: Measure
  /** The last reply and its digest. */
  #digest: string | undefined
  #reply: StatusReply | undefined

  constructor(isProbe = false, measure: Measure = unmeasured) {
    this.#isProbe = isProbe
    this.#measure = measure
  }

  /** @throws ProtocolError if it is not a status reply */
  read(frame: Frame): StatusReply {
    // Any other packet is not a reply; #parse() throws.
    if (frame.id !== packetIds.status) return this.#parse(frame)
    const digest = hash('sha1', frame.body, 'base64')
    if (this.#reply !== undefined && digest === this.#digest) return this.#reply
    const cached = this.#isProbe ? probed.get(digest) : undefined
    const reply = cached ?? this.#measure(() => this.#parse(frame))
    if (this.#isProbe && cached === undefined) probed.set(digest, reply, { size: frame.body.length })
    this.#digest = digest
    this.#reply = reply
    return reply
  }

  #parse(frame: Frame): StatusReply {
    const previous = this.#reply?.favicon
    const reply = parseStatusReply(decodeStatus(frame), previous)
    if (reply.favicon === undefined || reply.favicon === previous) return reply
    return Object.assign({}, reply, { favicon: shareIcon(reply.favicon, previous) })
  }
}
