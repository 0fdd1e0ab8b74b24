import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type opentype from 'opentype.js'
import { cachedPerKey } from '../../util/cached.ts'
import { load } from '../../util/load.ts'
import { packageRoot } from '../../util/package.ts'

/** One character, drawn in a square of 1 by 1, the baseline at 0. */
interface Glyph {
  /** Distance to the next character. */
  readonly advance: number
  /** SVG path data; empty for a space. */
  readonly path: string
}

/** The path of a character that is missing in the font: an empty box. */
const box = 'M.08 0V-.7H.52V0ZM.14 -.06H.46V-.64H.14Z'
const missing: Glyph = { advance: 0.6, path: box }
/** Joiners, and the variation selector of emoji: only fonts with ligatures or colours need them. */
const joiner = /\u200c|\u200d|\ufe0f/
const nothing: Glyph = { advance: 0, path: '' }

/** The characters of a picture are a few KB of paths; a font has thousands of characters. */
const maxGlyphs = 4_000
/** 3 digits are more precise than a pixel at any size. */
const decimals = 4

/** A font in the package, opened when it is first needed, so that pictures are the same on a machine without fonts. */
const openFont = cachedPerKey((file: string) => {
  const bytes = readFileSync(join(packageRoot, 'src', 'web', 'fonts', file))
  // Glyphs are parsed when they are first used: parsing all of them takes almost a second.
  const font = load<typeof opentype>('opentype.js').parse(new Uint8Array(bytes).buffer, { lowMemory: true })
  const glyph = cachedPerKey((character: string): Glyph => {
    if (joiner.test(character)) return nothing
    const found = font.charToGlyph(character)
    if (found.index === 0) return missing
    return { advance: (found.advanceWidth ?? 0) / font.unitsPerEm, path: found.getPath(0, 0, 1).toPathData(decimals) }
  }, maxGlyphs)
  return { glyph }
}, 2)

/** The font of a style. */
export const fontOf = ({ bold = false }: { readonly bold?: boolean }) => openFont(bold ? 'DejaVuSans-Bold.ttf' : 'DejaVuSans.ttf')

/** Scripts from right to left, whose letters have to be put in order and joined. */
const isFromRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Whether the fonts in the package can draw the character by itself. */
export const isBundled = (character: string, style: { readonly bold?: boolean }): boolean =>
  !isFromRight.test(character) && fontOf(style).glyph(character) !== missing
