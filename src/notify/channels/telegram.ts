import { baseUrl, text } from '../../settings/kinds/index.ts'
import { type ChannelType, jsonHeaders, linesOf } from './channel.ts'

const maxText = 4_096

export const telegram: ChannelType = {
  type: 'telegram',
  joins: true,
  keys: {
    token: {
      kind: {
        expected: 'the token of a bot, such as 123456:ABC-DEF',
        parse: (given) => (/^\d+:[\w-]+$/.test(given) ? given : undefined),
      },
      ...{ isSecret: true, isRequired: true },
    },
    chat: { kind: text, isRequired: true },
    url: { kind: baseUrl('https:', 'http:') },
  },
  send: (delivery, { token, chat, url = 'https://api.telegram.org' }, context) =>
    context.request({
      ...{ method: 'POST', url: new URL(`${url.replace(/\/$/, '')}/bot${token}/sendMessage`), headers: jsonHeaders },
      // Without parse_mode: nothing in a name or MOTD formats the message.
      body: JSON.stringify({ chat_id: chat, text: linesOf(delivery, maxText), link_preview_options: { is_disabled: true } }),
    }),
  // Mentions have no other escape. A template may contain some.
  quote: (value) => value.replaceAll('@', '@\u2060'),
  retryAfterMs: (body) =>
    Number((body as { readonly parameters?: { readonly retry_after?: unknown } }).parameters?.retry_after) * 1_000,
}
