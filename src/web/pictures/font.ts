import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type opentype from 'opentype.js'
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

/** The characters of a picture are a few KB of paths; a font has thousands of characters. */
const maxGlyphs = 4_000
/** 3 digits are more precise than a pixel at any size. */
const decimals = 4

function openFont(file: string) {
  const bytes = readFileSync(join(packageRoot, 'src', 'web', 'fonts', file))
  // Glyphs are parsed when they are first used: parsing all of them takes almost a second.
  const font = load<typeof opentype>('opentype.js').parse(new Uint8Array(bytes).buffer, { lowMemory: true })
  const known = new Map<string, Glyph>()

  function draw(character: string): Glyph {
    const glyph = font.charToGlyph(character)
    if (glyph.index === 0) return missing
    return { advance: (glyph.advanceWidth ?? 0) / font.unitsPerEm, path: glyph.getPath(0, 0, 1).toPathData(decimals) }
  }

  return {
    glyph(character: string): Glyph {
      const before = known.get(character)
      if (before !== undefined) return before
      const glyph = draw(character)
      if (known.size >= maxGlyphs) known.clear()
      known.set(character, glyph)
      return glyph
    },
  }
}

type Font = ReturnType<typeof openFont>

let fonts: Readonly<Record<'regular' | 'bold', Font>> | undefined

/** The fonts in the package, opened when the first picture is drawn, so that pictures are the same on a machine without fonts. */
function openFonts() {
  fonts ??= { regular: openFont('DejaVuSans.ttf'), bold: openFont('DejaVuSans-Bold.ttf') }
  return fonts
}

/** The font of a style. */
export const fontOf = ({ bold = false }: { readonly bold?: boolean }): Font => openFonts()[bold ? 'bold' : 'regular']

/** Scripts from right to left, whose letters have to be put in order and joined. */
const isFromRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Whether the fonts in the package can draw the character by itself. */
export const isBundled = (character: string, style: { readonly bold?: boolean }): boolean =>
  !isFromRight.test(character) && fontOf(style).glyph(character) !== missing
