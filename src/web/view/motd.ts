import { maxTextRuns, parseTextRuns, type TextRun } from '../../game/protocol/text-runs.ts'
import { motdLines } from './motd-lines.ts'
import { h, type ViewElement } from './node.ts'
import type { ServerState } from './types.ts'

const formatClasses: Readonly<Record<string, string>> = { l: 'b', o: 'i', n: 'u', m: 's', k: 'k' }

const channel = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)

function luminance(rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => channel(value / 255))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Luminance with a contrast of 4.5 on the dark background of the message. */
const legible = 0.24

/** A colour, lightened until it is readable on the dark background. */
export function legibleColor(hex: string): string {
  const rgb = [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16))
  let shown = rgb
  for (let white = 0; luminance(shown) < legible && white < 1; white += 0.05)
    shown = rgb.map((value) => Math.round(value + (255 - value) * white))
  return `#${shown.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function viewRun({ text, color, formats }: TextRun): ViewElement {
  const classes = [...formats].map((format) => formatClasses[format])
  if (color !== undefined && !color.startsWith('#')) classes.push(`c${color}`)
  return h(
    'span',
    {
      ...(classes.length > 0 && { class: classes.join(' ') }),
      ...(color?.startsWith('#') && { style: { color: legibleColor(color) } }),
    },
    text,
  )
}

/** The message of the day in its colours; empty if it is unknown. */
export function viewMotd({ motd, formattedMotd }: ServerState): ViewElement | undefined {
  if (motd === null) return undefined
  const runs = parseTextRuns(formattedMotd ?? motd)
  const text = runs.map((run) => run.text).join('')
  const isCurrent = runs.length < maxTextRuns ? text === motd : motd.startsWith(text)
  const shown = motdLines(isCurrent ? runs : parseTextRuns(motd))
  return h(
    'p',
    { class: 'motd' },
    shown.map((line) => h('bdi', {}, line.map(viewRun))),
  )
}
