import { type ChannelType, jsonHeaders, linesOf, urlKey } from './channel.ts'

/** Slack shortens longer messages. */
const maxText = 4_000

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const slack: ChannelType = {
  type: 'slack',
  joins: true,
  keys: {
    url: urlKey,
  },
  send: (delivery, values, context) =>
    context.request({
      ...{ method: 'POST', url: new URL(values.url ?? ''), headers: jsonHeaders },
      // Each escaped character has at most five.
      body: JSON.stringify({
        text: linesOf(delivery, maxText / 5).replaceAll(/[&<>]/g, (character) => escapes[character] ?? ''),
        mrkdwn: false,
      }),
    }),
}
