import type { TextRun } from '../../game/protocol/text-runs.ts'
import { cleanName } from '../view/clean-text.ts'
import { readable } from '../view/contrast.ts'
import { motdLines, motdRuns } from '../view/motd.ts'
import { drawLine } from './line.ts'
import { judgeTickRate, type Summary, tickText } from './summary.ts'
import { drawText, type TextPiece, textWidth } from './text.ts'
import { gameColors, type Theme } from './theme.ts'

/** Sizes for a width of 600 pixels; they scale with the width. */
const base = { width: 600, height: 108, padding: 14, icon: 64, gap: 14 } as const

const scaleOf = (width: number): number => Math.min(1.6, Math.max(0.75, width / base.width))

export const bannerHeight = (width: number): number => Math.round(base.height * scaleOf(width))

/** The lines of the message with their colours. */
const linesOf = (motd: readonly TextRun[], theme: Theme): readonly (readonly TextPiece[])[] =>
  motdLines(motd).map((line) =>
    line.map(({ text, color, formats }, index) => {
      const own = color === undefined ? undefined : (gameColors[color] ?? color)
      return {
        // Servers centre their lines with spaces, but for another font.
        text: index === 0 ? text.trimStart() : text,
        size: 13,
        color: own === undefined ? theme.muted : readable(own, theme),
        bold: formats.includes('l'),
        italic: formats.includes('o'),
        underlined: formats.includes('n'),
        struckThrough: formats.includes('m'),
      }
    }),
  )

const integer = new Intl.NumberFormat('en')
/** Digits in groups: `12,345/20,000`. */
const grouped = (text: string): string => text.replace(/\d+/g, (digits) => integer.format(Number(digits)))

/** A long number is smaller, to leave room for the name. */
function fitCount(text: string, maxWidth: number, { text: color }: Theme): TextPiece {
  const usual = { text, size: 20, bold: true, color }
  return { ...usual, size: Math.max(10, Math.min(usual.size, (usual.size * maxWidth) / textWidth(text, usual))) }
}

/**
 * Icon, name, message, players, tick rate, version and address as SVG.
 * @param address what players enter to join; null if it is unknown
 */
export async function drawBanner(
  summary: Summary,
  icon: Buffer,
  width: number,
  theme: Theme,
  address: string | null = null,
): Promise<string> {
  const scale = scaleOf(width)
  const [inner, height] = [width / scale, base.height]
  const left = base.padding + base.icon + base.gap
  const right = inner - base.padding
  const { up, status, shortStatus, players, version, software, motd, formattedMotd } = summary
  const color =
    shortStatus === 'online' ? theme.up : shortStatus === 'offline' || shortStatus === 'hung' ? theme.down : theme.muted

  const count = up && players !== null ? fitCount(grouped(players), (right - left) / 2, theme) : undefined
  const countWidth = count === undefined ? 0 : textWidth(count.text, count)
  const label = { size: 10, color: theme.muted }
  const name = { size: 18, bold: true, color: theme.text }
  const nameWidth = right - left - (count === undefined ? 0 : countWidth + base.gap)

  const judged = judgeTickRate(summary)
  const ticks = tickText(summary)
  const facts: TextPiece[] = [{ text: status, size: 12, bold: true, color }]
  const add = (text: string, own: string) => facts.push({ text: '   ', size: 12, color: own }, { text, size: 12, color: own })
  if (ticks !== null) add(judged === undefined ? ticks : `${ticks} TPS`, judged === undefined ? theme.muted : theme[judged])
  if (version !== null) add([software, version].filter((part) => part !== null && part !== 'vanilla').join(' '), theme.muted)

  if (address !== null) add(address, theme.muted)
  const lines = motd === null ? [] : linesOf(motdRuns(motd, formattedMotd), theme)
  const dot = 4
  const factsY = height - 15
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bannerHeight(width)}" viewBox="0 0 ${inner} ${height}">`,
    `<rect x=".5" y=".5" width="${inner - 1}" height="${height - 1}" rx="8" fill="${theme.background}" stroke="${theme.border}"/>`,
    `<image x="${base.padding}" y="${(height - base.icon) / 2}" width="${base.icon}" height="${base.icon}"`,
    ` image-rendering="pixelated"${up ? '' : ' opacity="0.45"'} href="data:image/png;base64,${icon.toString('base64')}"/>`,
    await drawLine([{ ...name, text: cleanName(summary.server) }], left, 28, nameWidth),
    ...(count === undefined
      ? []
      : [
          drawText(count.text, right - countWidth, 28, count),
          drawText('players', right - textWidth('players', label), 42, label),
        ]),
    ...(await Promise.all(
      lines.map((line, index) => drawLine(line, left, 49 + index * 18, right - left - (count === undefined ? 0 : 46))),
    )),
    `<circle cx="${left + dot}" cy="${factsY - 4}" r="${dot}" fill="${color}"/>`,
    await drawLine(facts, left + 16, factsY, right - left - 16),
    '</svg>',
  ].join('')
}
