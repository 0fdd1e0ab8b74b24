import { text } from '../../settings/kinds/index.ts'
import { cut, severities, severityOf } from '../notification.ts'
import { type ChannelType, linesOf, urlKey } from './channel.ts'

/** ntfy turns a message of more than 4,096 bytes into an attachment; a character has at most three bytes. */
const maxText = 4_096 / 3

/** A joined message looks like its worst event, because a phone may not ring for the others. */
const looks = {
  bad: { priority: '4', tags: 'rotating_light' },
  warning: { priority: '3', tags: 'warning' },
  good: { priority: '3', tags: 'white_check_mark' },
  info: { priority: '2', tags: 'information_source' },
} as const

/** Headers are ASCII; ntfy decodes RFC 2047. */
const header = (value: string): string =>
  /^[\x20-\x7e]*$/.test(value) ? value : `=?UTF-8?B?${Buffer.from(value).toString('base64')}?=`

export const ntfy: ChannelType = {
  type: 'ntfy',
  joins: true,
  keys: {
    url: urlKey,
    token: { kind: text, isSecret: true },
  },
  send(delivery, { url = '', token }, context) {
    const [first] = delivery.notifications
    const isSingle = delivery.notifications.length === 1 && delivery.more === 0
    const title = isSingle ? (first?.server ?? 'Tickwarden') : `${delivery.notifications.length + delivery.more} notifications`
    const found = new Set(delivery.notifications.map(({ event }) => severityOf(event)))
    const { priority, tags } = looks[severities.find((severity) => found.has(severity)) ?? 'warning']
    return context.request({
      ...{ method: 'POST', url: new URL(url), body: linesOf(delivery, maxText) },
      headers: {
        ...{ 'content-type': 'text/plain; charset=utf-8', title: header(cut(title, 100)), priority, tags },
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    })
  },
}
