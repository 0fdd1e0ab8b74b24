import { createHmac } from 'node:crypto'
import { text } from '../../settings/kinds/index.ts'
import { type ChannelType, jsonHeaders, urlKey } from './channel.ts'

/** A POST of JSON to any program. The receiver recognises a repeated attempt by its id, and an old one by its timestamp. */
export const webhook: ChannelType = {
  type: 'webhook',
  joins: false,
  keys: {
    url: urlKey,
    secret: { kind: text, isSecret: true },
  },
  async send({ notifications, at }, values, context) {
    for (const { id, at: changedAt, event, server, group, text, error, duration, state } of notifications) {
      const body = JSON.stringify({ id, at: changedAt, event, server, group, text, error, duration, state })
      const timestamp = String(Math.floor(at / 1_000))
      const signature = values.secret && createHmac('sha256', values.secret).update(`${timestamp}.${body}`).digest('hex')
      const headers = {
        ...jsonHeaders,
        'x-tickwarden-id': id,
        'x-tickwarden-timestamp': timestamp,
        ...(signature && { 'x-tickwarden-signature': `sha256=${signature}` }),
      }
      await context.request({ method: 'POST', url: new URL(values.url ?? ''), headers, body })
    }
  },
}
