import { join } from 'node:path'
import { packageRoot } from '../../util/package.ts'
import { loadSharp } from '../../util/sharp.ts'
import { escapeHtml } from '../view/node.ts'
import { isBundled } from './font.ts'
import { charactersOf, drawPieces, ellipsis, fitPieces, type TextPiece } from './text.ts'

const fontfile = join(packageRoot, 'src', 'web', 'fonts', 'DejaVuSans.ttf')
/** Pixels per unit of the picture, for sharp text in wide banners. */
const pixels = 2
/** Attempts to cut a line to its width. */
const maxCuts = 8
/** Blocks of 128 characters per line that are looked up in the installed fonts, and those that are remembered. */
const [maxLookups, maxKnown] = [24, 500]

/** Drawn with the installed fonts, shaped and in the order of its script, by Pango in a thread pool. @param markup of Pango */
async function drawMarkup(markup: string) {
  const sharp = await loadSharp()
  const { data, info } = await sharp({ text: { text: markup, font: 'DejaVu Sans 10', fontfile, dpi: 72 * pixels, rgba: true } })
    .png()
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

const known = new Map<number, Promise<boolean>>()

/** Whether an installed font has the characters near this one: all boxes with the code of a missing character are of one size. */
async function isInstalled(character: string): Promise<boolean> {
  const sizeOf = async (text: string) => {
    const { width, height } = await drawMarkup(`<span size="40960">${escapeHtml(text)}</span>`)
    return `${width} ${height}`
  }
  try {
    const [box, own] = [await sizeOf(character.length > 1 ? '\u{10fff0}' : '\ue000'), await sizeOf(character)]
    return own !== box
  } catch {
    // It has no ink of its own.
    return true
  }
}

const blockOf = (character: string): number => (character.codePointAt(0) ?? 0) >> 7

/** The pieces without what no font can draw: letters become an ellipsis, and symbols such as emoji are left out. */
async function drawablePieces(pieces: readonly TextPiece[]): Promise<readonly TextPiece[]> {
  const unknown = pieces.flatMap(({ text, ...style }) => charactersOf(text).filter((character) => !isBundled(character, style)))
  // Rather letters: a mark alone is drawn on a placeholder.
  const samples = new Map(
    [unknown, unknown.filter((character) => /\p{L}/u.test(character))].flat().map((each) => [blockOf(each), each]),
  )
  const blocks = new Set<number>()
  for (const [block, character] of [...samples].slice(0, maxLookups)) {
    if (known.size >= maxKnown) known.clear()
    const found = known.get(block) ?? isInstalled(character)
    known.set(block, found)
    if (await found) blocks.add(block)
  }
  return pieces.map((piece) => {
    let text = ''
    for (const character of charactersOf(piece.text)) {
      if (isBundled(character, piece) || blocks.has(blockOf(character))) text += character
      else if (/[\p{L}\p{N}]/u.test(character) && !text.trimEnd().endsWith(ellipsis)) text += ellipsis
    }
    return { ...piece, text }
  })
}

const spanOf = ({ text, size, color, bold, italic, underlined, struckThrough }: TextPiece): string =>
  [
    `<span size="${Math.round(size * 1024)}" foreground="${color}"${bold ? ' weight="bold"' : ''}${italic ? ' style="italic"' : ''}`,
    `${underlined ? ' underline="single"' : ''}${struckThrough ? ' strikethrough="true"' : ''}>${escapeHtml(text)}</span>`,
  ].join('')

/** The first characters of the pieces. */
function cut(pieces: readonly TextPiece[], count: number): readonly TextPiece[] {
  let left = count
  return pieces.flatMap((piece) => {
    if (left <= 0) return []
    const characters = charactersOf(piece.text)
    const shown = characters.slice(0, left).join('')
    left -= characters.length
    return [{ ...piece, text: left < 0 ? `${shown.trimEnd()}${ellipsis}` : shown }]
  })
}

/**
 * Extents of `|` in the bundled font, in parts of its size. A picture begins at its first ink: an invisible bar of twice the size of
 * the text, before it, makes the baseline and the start known.
 */
const bar = { factor: 2, above: 0.7646, end: 0.21 } as const

/**
 * Pieces of a line, truncated to the width. `x` is the left edge, `y` the baseline. The bundled font draws what it can; other text
 * is drawn with the installed fonts.
 */
export async function drawLine(pieces: readonly TextPiece[], x: number, y: number, maxWidth: number): Promise<string> {
  const drawable = await drawablePieces(pieces)
  if (drawable.every((piece) => charactersOf(piece.text).every((character) => isBundled(character, piece))))
    return drawPieces(fitPieces(drawable, maxWidth), x, y)
  const size = bar.factor * Math.max(...pieces.map((piece) => piece.size))
  // The bar is at the left of text of any direction.
  const strut = `\u200e<span size="${Math.round(size * 1024)}" fgalpha="1">|</span>`
  let count = drawable.reduce((sum, { text }) => sum + charactersOf(text).length, 0)
  for (let attempt = 1; ; attempt++) {
    const { data, width, height } = await drawMarkup(`${strut}\u2068${cut(drawable, count).map(spanOf).join('')}\u2069`)
    const shownWidth = width / pixels - bar.end * size
    if (shownWidth > maxWidth && count > 1 && attempt < maxCuts) {
      count = Math.max(1, Math.min(count - 1, Math.floor((count * maxWidth) / shownWidth)))
      continue
    }
    const place = `x="${(x - bar.end * size).toFixed(2)}" y="${(y - bar.above * size).toFixed(2)}"`
    return `<image ${place} width="${width / pixels}" height="${height / pixels}" href="data:image/png;base64,${data.toString('base64')}"/>`
  }
}
