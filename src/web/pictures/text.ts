import { cleanText } from '../view/clean-text.ts'
import { fontOf } from './font.ts'

export interface TextStyle {
  /** Pixels. */
  readonly size: number
  readonly color: string
  readonly bold?: boolean
  readonly italic?: boolean
  readonly underlined?: boolean
  readonly struckThrough?: boolean
}

export interface TextPiece extends TextStyle {
  readonly text: string
}

/** Maximum number of characters of a piece; no picture has room for more. */
const maxCharacters = 300
export const ellipsis = '…'

const round = (value: number): number => Math.round(value * 100) / 100

export const charactersOf = (text: string): readonly string[] =>
  [...cleanText(text.slice(0, 10 * maxCharacters)).normalize()].slice(0, maxCharacters)

/** The width of a text in pixels. */
export const textWidth = (text: string, style: TextStyle): number =>
  charactersOf(text).reduce((width, character) => width + fontOf(style).glyph(character).advance, 0) * style.size

/** Truncates the text to the width, with an ellipsis. */
export function fitText(text: string, style: TextStyle, maxWidth: number): string {
  if (textWidth(text, style) <= maxWidth) return text
  let left = maxWidth - textWidth(ellipsis, style)
  let fitted = ''
  for (const character of charactersOf(text)) {
    left -= fontOf(style).glyph(character).advance * style.size
    if (left < 0) break
    fitted += character
  }
  return `${fitted.trimEnd()}${ellipsis}`
}

/** Truncates the pieces of a line to the width. */
export function fitPieces(pieces: readonly TextPiece[], maxWidth: number): readonly TextPiece[] {
  const fitted: TextPiece[] = []
  let left = maxWidth
  for (const piece of pieces) {
    const text = fitText(piece.text, piece, left)
    fitted.push({ ...piece, text })
    left -= textWidth(text, piece)
    if (text !== piece.text) break
  }
  return fitted
}

/** A text as an SVG path element, so that it cannot contain markup. `x` is the left edge, `y` the baseline. */
export function drawText(text: string, x: number, y: number, style: TextStyle): string {
  const { size, color, italic = false, underlined = false, struckThrough = false } = style
  const font = fontOf(style)
  let position = 0
  const paths = charactersOf(text).map((character) => {
    const { advance, path } = font.glyph(character)
    const place = round(position * size) / size
    position += advance
    return path === '' ? '' : `<path transform="translate(${place.toFixed(4)})" d="${path}"/>`
  })
  const rule = (top: number) => `<path d="M0 ${top}H${position.toFixed(4)}V${top + 0.06}H0Z"/>`
  const lines = [underlined ? rule(0.1) : '', struckThrough ? rule(-0.3) : '']
  const slant = italic ? ' skewX(-12)' : ''
  return `<g fill="${color}" transform="translate(${round(x)} ${round(y)})${slant} scale(${size})">${paths.join('')}${lines.join('')}</g>`
}

/** Joins pieces in a line. */
export function drawPieces(pieces: readonly TextPiece[], x: number, y: number): string {
  let at = x
  return pieces
    .map((piece) => {
      const drawn = drawText(piece.text, at, y, piece)
      at += textWidth(piece.text, piece)
      return drawn
    })
    .join('')
}
