import { formatDuration } from '../../util/format-duration.ts'
import { cut, type Notification, severityOf } from '../notification.ts'
import { type ChannelType, type Delivery, jsonHeaders, linesOf, urlKey } from './channel.ts'

const colours = { bad: 0xd9_30_25, warning: 0xf9_ab_00, good: 0x1e_8e_3e, info: 0x1a_73_e8 } as const

/** The embeds of a message may have 6,000 characters together: ten of these fit. */
const limits = { title: 120, description: 240, field: 60 } as const

/** Names and MOTDs must not format the message. */
export const escapeMarkdown = (text: string): string => text.replaceAll(/[\\*_~`|>#[\]()<@-]/g, '\\$&')

function toEmbed({ event, server, at, state, error, duration, text }: Notification, publicUrl: string | undefined) {
  const field = (name: string, value: string | null | undefined) =>
    value ? [{ name, value: cut(escapeMarkdown(value), limits.field), inline: true }] : []
  const page =
    publicUrl !== undefined && server !== null ? `${publicUrl}api/v1/servers/${encodeURIComponent(server)}/` : undefined
  return {
    title: cut(escapeMarkdown(text), limits.title),
    color: colours[severityOf(event)],
    timestamp: new Date(at).toISOString(),
    ...(state?.motd && { description: cut(escapeMarkdown(state.motd), limits.description) }),
    ...(page !== undefined && page.length < 1_000 && { thumbnail: { url: `${page}favicon?size=64` } }),
    fields: [
      ...field('Players', state?.online == null ? null : `${state.online}${state.max === null ? '' : ` / ${state.max}`}`),
      ...field('Version', state?.version),
      ...field('Duration', duration === null ? null : formatDuration(duration)),
      ...field('Error', error),
    ],
  }
}

export const toDiscordMessage = ({ notifications, more, publicUrl }: Delivery) => ({
  content: cut(escapeMarkdown(linesOf({ notifications: notifications.length > 1 ? notifications : [], more }, 900)), 1_900),
  embeds: notifications.map((notification) => toEmbed(notification, publicUrl)),
  // A player could be called like a role.
  allowed_mentions: { parse: [] },
})

export const discord: ChannelType = {
  type: 'discord',
  joins: true,
  hasStatusMessage: true,
  keys: {
    url: urlKey,
  },
  send: (delivery, values, context) =>
    context.request({
      ...{ method: 'POST', url: new URL(values.url ?? ''), headers: jsonHeaders },
      body: JSON.stringify(toDiscordMessage(delivery)),
    }),
  retryAfterMs: (body) => Number((body as { readonly retry_after?: unknown }).retry_after) * 1_000,
}
