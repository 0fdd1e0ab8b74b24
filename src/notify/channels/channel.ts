import { url } from '../../settings/kinds/index.ts'
import type { Kind } from '../../settings/kinds/kind.ts'
import type { HttpReply, HttpRequest } from '../../util/http-client.ts'
import { cut, type Notification } from '../notification.ts'

/** A setting of a channel. docs/notifications.md says what each means. */
export interface ChannelKey {
  readonly kind: Kind<string>
  /** Never shown; can be read from a file: `<key>File`. */
  readonly isSecret?: true
  readonly isRequired?: true
}

/** The key of a channel that is a URL, which may contain a secret. */
export const urlKey: ChannelKey = { kind: url('https:', 'http:'), isSecret: true, isRequired: true }

/** The values of the settings of a channel, by key. */
export type ChannelValues = Readonly<Record<string, string | undefined>>

/** What is sent at once. */
export interface Delivery {
  /** At least one, the worst of all, in their order; of a channel without `joins` exactly one. */
  readonly notifications: readonly Notification[]
  /** How many more there are, which are only counted. */
  readonly more: number
  /** Unix milliseconds of the attempt. */
  readonly at: number
  /** URL of the service for its readers, with a trailing slash; absent: no links and icons. */
  readonly publicUrl?: string | undefined
}

export interface ChannelContext {
  /**
   * Sends a request and resolves with a successful reply.
   * @throws DeliveryError
   */
  request(request: Omit<HttpRequest, 'timeoutMs'>): Promise<HttpReply>
  /**
   * Returns the address of a mail server.
   * @throws DeliveryError if it must not be connected to
   */
  resolve(host: string): Promise<string>
}

/** A way to send messages. Siblings of one shape, listed in `index.ts`. */
export interface ChannelType {
  readonly type: string
  readonly keys: Readonly<Record<string, ChannelKey>>
  /** Whether notifications of several servers become one message. */
  readonly joins: boolean
  /** Whether a webhook of it can edit its messages as those of Discord can, for `statusMessage`. */
  readonly hasStatusMessage?: true
  /** Returns a key whose value has no effect beside the others, and why. */
  findUnused?(values: ChannelValues): readonly [key: string, reason: string] | undefined
  /** @throws DeliveryError */
  send(delivery: Delivery, values: ChannelValues, context: ChannelContext): Promise<unknown>
  /** Writes a value from a game server or its players so that it mentions nobody, if escaping the message would not do; default: as it is. */
  readonly quote?: (value: string) => string
  /** The pause that the service asks for in the body of a reply 429, milliseconds. */
  retryAfterMs?(body: unknown): number | undefined
}

/** A message was not accepted. The message is the reason, without URL and secrets. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** Whether it may succeed later. */
  readonly isTemporary: boolean
  /** The pause that the receiver asks for, milliseconds. */
  readonly retryAfterMs: number | undefined
  /** HTTP status; undefined if there is none. */
  readonly status: number | undefined

  constructor(
    message: string,
    {
      isTemporary = true,
      retryAfterMs,
      status,
    }: { isTemporary?: boolean; retryAfterMs?: number | undefined; status?: number } = {},
  ) {
    super(message)
    this.isTemporary = isTemporary
    this.retryAfterMs = retryAfterMs
    this.status = status
  }
}

/** Maximum number of notifications that a message shows; the others are counted. */
export const maxShown = 10

/** The texts of a delivery, one per line. @param max UTF-16 code units */
export function linesOf({ notifications, more }: Pick<Delivery, 'notifications' | 'more'>, max: number): string {
  const last = more > 0 ? [`and ${more} more`] : []
  const perLine = Math.floor(max / (notifications.length + 1)) - 1
  return [...notifications.map(({ text }) => cut(text, perLine)), ...last].join('\n')
}

export const jsonHeaders = { 'content-type': 'application/json' } as const
