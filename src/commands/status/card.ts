import type { TextRun } from '../../game/protocol/text-runs.ts'
import { escapeControls } from '../../util/escape-controls.ts'
import { gameColors } from '../../web/pictures/theme.ts'
import { motdLines, motdRuns } from '../../web/view/motd.ts'
import type { Look } from './look.ts'

export interface CardStyle {
  /** Bits per pixel of the terminal's colours; 1 for none. */
  readonly colors: number
  readonly columns: number
}

/** Maximum number of players that are named. */
const maxNamed = 12
/** Width of the icon in characters; each is two pixels high. */
const iconWidth = 16
/** More than the game shows, as there is room. */
const maxMotdLines = 4
const maxIconPixels = 512 * 512
const reset = '\x1b[0m'

const formatCodes: Readonly<Record<string, string>> = { l: '1', o: '3', n: '4', m: '9' }

const rgb = (hex: string): string => [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16)).join(';')

/** The colour nearest to one of the 216 of the palette. */
const palette = (channels: string): string => {
  const [red = 0, green = 0, blue = 0] = channels.split(';').map((value) => Math.round(Number(value) / 51))
  return `5;${16 + 36 * red + 6 * green + blue}`
}

const color = (channels: string, layer: 38 | 48, colors: number): string =>
  `${layer};${colors >= 24 ? `2;${channels}` : palette(channels)}`

function paint({ text, color: given, formats }: TextRun, colors: number): string {
  const plain = escapeControls(text)
  const hex = given === undefined ? undefined : given.startsWith('#') ? given : gameColors[given]
  const codes = [
    ...(hex === undefined || colors < 8 ? [] : [color(rgb(hex), 38, colors)]),
    ...[...formats].flatMap((format) => formatCodes[format] ?? []),
  ]
  return colors === 1 || codes.length === 0 ? plain : `\x1b[${codes.join(';')}m${plain}${reset}`
}

/** The lines of the message of the day, in its colours. */
function paintMotd({ snapshot }: Look, colors: number): readonly string[] {
  const { motd, formattedMotd } = snapshot.fields
  const lines = motdLines(motdRuns(motd?.value ?? '', formattedMotd?.value), maxMotdLines)
  const painted = lines.map((runs) => runs.map((run) => paint(run, colors)).join(''))
  return painted.map((line) => line.trimEnd()).filter((line) => line !== '')
}

/** The icon in half blocks; empty if it cannot be drawn. */
async function iconLines({ snapshot }: Look, { colors, columns }: CardStyle): Promise<readonly string[]> {
  const favicon = snapshot.fields.favicon?.value
  if (favicon === undefined || colors < 8 || columns < 60) return []
  try {
    const { default: sharp } = await import('sharp')
    const { data } = await sharp(favicon, { limitInputPixels: maxIconPixels })
      .resize(iconWidth, iconWidth, { fit: 'fill' })
      .flatten({ background: '#000000' })
      .removeAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
    const pixel = (x: number, y: number) => [...data.subarray((y * iconWidth + x) * 3, (y * iconWidth + x) * 3 + 3)].join(';')
    return Array.from({ length: iconWidth / 2 }, (_, row) => {
      const cells = Array.from(
        { length: iconWidth },
        (_, x) => `\x1b[${color(pixel(x, row * 2), 38, colors)};${color(pixel(x, row * 2 + 1), 48, colors)}m▀`,
      )
      return `${cells.join('')}${reset}`
    })
  } catch {
    // The icon of a server may be anything.
    return []
  }
}

function describePlayers({ snapshot }: Look): string {
  const { playersOnline, playersMax, players } = snapshot.fields
  const count = `${playersOnline?.value ?? '?'}${playersMax === undefined ? '' : ` of ${playersMax.value}`}`
  const names = players?.value.players.map(({ name }) => escapeControls(name)) ?? []
  if (names.length === 0) return count
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : ''
  return `${count}: ${names.slice(0, maxNamed).join(', ')}${more}`
}

const milliseconds = (seconds: number): string => `${(seconds * 1_000).toFixed(seconds < 0.01 ? 1 : 0)} ms`

/** The values of a server, as rows of a card. */
function rowsOf(result: Look): readonly (readonly [name: string, value: string])[] {
  const { edition, version, software, latency, tickRate, tickDurationMean, plugins, map } = result.snapshot.fields
  const isBedrock = edition?.value === 'bedrock'
  const versionText = [isBedrock ? 'Bedrock' : '', software?.value, version?.value].filter(Boolean).join(' ')
  const sources = result.snapshot.sources.map(({ source, state, error }) =>
    escapeControls(error === undefined ? `${source} ${state}` : `${source} ${state} (${error.message})`),
  )
  const ticks = [
    ...(tickRate === undefined ? [] : [`${tickRate.value.toFixed(1)} per second`]),
    ...(tickDurationMean === undefined ? [] : [`${milliseconds(tickDurationMean.value)} each`]),
  ]
  return [
    ['players', describePlayers(result)],
    ...(versionText === '' ? [] : [['version', escapeControls(versionText)] as const]),
    ...(latency === undefined ? [] : [['latency', milliseconds(latency.value)] as const]),
    ...(ticks.length === 0 ? [] : [['ticks', ticks.join(', ')] as const]),
    ...(map === undefined ? [] : [['map', escapeControls(map.value)] as const]),
    ...(plugins === undefined ? [] : [['plugins', String(plugins.value.length)] as const]),
    ['sources', sources.join(', ')],
  ]
}

/** The state of a server that is up, for people: on a terminal with colours, with its icon beside. */
export async function card(result: Look, style: CardStyle): Promise<string> {
  const { colors } = style
  const strong = (text: string) => (colors === 1 ? text : `\x1b[1m${text}${reset}`)
  const state = colors === 1 ? 'up' : `\x1b[32mup${reset}`
  const text = [
    `${strong(escapeControls(result.target.text))} ${state}`,
    ...paintMotd(result, colors),
    ...rowsOf(result).map(([name, value]) => `${name.padEnd(9)}${value}`),
  ]
  const icon = await iconLines(result, style)
  if (icon.length === 0) return `${[text[0], ...text.slice(1).map((line) => `  ${line}`)].join('\n')}\n`
  const height = Math.max(icon.length, text.length)
  const lines = Array.from({ length: height }, (_, row) => `${icon[row] ?? ' '.repeat(iconWidth)}  ${text[row] ?? ''}`)
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n\n`
}
