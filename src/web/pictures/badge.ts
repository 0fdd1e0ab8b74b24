import type { Uptime } from '../../history/values/uptime.ts'
import { floorPercent, meanUptime } from '../../util/uptime.ts'
import { cleanText } from '../view/clean-text.ts'
import { escapeHtml } from '../view/node.ts'
import { judgeTickRate, type Summary, tickText } from './summary.ts'
import { drawText, fitText, textWidth } from './text.ts'

export const badgeKinds = ['players', 'tps', 'status', 'version', 'uptime'] as const
export type BadgeKind = (typeof badgeKinds)[number]

const colors = { up: '#2f8f2f', warning: '#b07d00', down: '#c93b3b', info: '#1f6fb5', unknown: '#777777' } as const

const statusColors = {
  online: colors.up,
  hung: colors.down,
  offline: colors.down,
  asleep: colors.info,
  upgrading: colors.info,
  maintenance: colors.info,
} as const

interface BadgeContent {
  readonly label: string
  readonly value: string
  readonly color: string
}

/** The text of a badge. If the server is not up, its state or the maintenance replaces the value. @param uptime of the last 90 days */
export function badgeContent(kind: BadgeKind, summary: Summary, uptime?: Uptime): BadgeContent {
  const { up, shortStatus, players, version } = summary
  const label = kind === 'tps' ? 'TPS' : kind
  const unknown = { label, value: 'unknown', color: colors.unknown }
  if (kind === 'uptime') {
    const part = meanUptime(uptime?.days ?? [])
    if (part === null) return unknown
    return {
      label: 'uptime 90 d',
      value: `${floorPercent(part)}%`,
      color: part >= 0.99 ? colors.up : part >= 0.95 ? colors.warning : colors.down,
    }
  }
  if (shortStatus === 'unknown') return unknown
  const hasValues = shortStatus === 'online' || (shortStatus === 'maintenance' && up)
  if (kind === 'status' || !hasValues) return { label, value: shortStatus, color: statusColors[shortStatus] }
  if (kind === 'tps') {
    const value = tickText(summary)
    const judged = judgeTickRate(summary)
    return value === null ? unknown : { label, value, color: judged === undefined ? colors.info : colors[judged] }
  }
  const value = kind === 'players' ? players : version
  return value === null ? unknown : { label, value, color: kind === 'players' ? colors.up : colors.info }
}

const height = 20
const padding = 6
const maxValueWidth = 240

/** A badge in the usual form: the name on grey, the value on a colour. */
export function drawBadge({ label, value, color }: BadgeContent): string {
  const style = { size: 11, color: '#ffffff' }
  const shadow = { size: 11, color: '#000000' }
  const shown = fitText(value, style, maxValueWidth)
  const labelWidth = Math.ceil(textWidth(label, style)) + 2 * padding
  const width = labelWidth + Math.ceil(textWidth(shown, style)) + 2 * padding
  const draw = (text: string, x: number) => `<g opacity=".3">${drawText(text, x, 15, shadow)}</g>${drawText(text, x, 14, style)}`
  const title = escapeHtml(cleanText(`${label}: ${shown}`))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${title}"><title>${title}</title>`,
    '<linearGradient id="s" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/><stop offset="1" stop-opacity=".1"/></linearGradient>',
    `<clipPath id="r"><rect width="${width}" height="${height}" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)"><rect width="${labelWidth}" height="${height}" fill="#555"/>`,
    `<rect x="${labelWidth}" width="${width - labelWidth}" height="${height}" fill="${color}"/>`,
    `<rect width="${width}" height="${height}" fill="url(#s)"/></g>`,
    draw(label, padding),
    draw(shown, labelWidth + padding),
    '</svg>',
  ].join('')
}
