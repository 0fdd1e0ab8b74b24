import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import opentype from 'opentype.js'
import { packageRoot } from '../../package.ts'

/** One character, drawn in a square of 1 by 1, the baseline at 0. */
export interface Glyph {
  /** How far the next one is. */
  readonly advance: number
  /** SVG path data; empty for a space. */
  readonly path: string
}

export interface Font {
  glyph(character: string): Glyph
}

/** The path of a character that the font lacks: an empty box. */
const box = 'M.08 0V-.7H.52V0ZM.14 -.06H.46V-.64H.14Z'
const missing: Glyph = { advance: 0.6, path: box }

/** The paths of all characters of a text that a picture has place for are a few KB; a font has some thousand. */
const maxGlyphs = 4_000
/** 3 digits are finer than a pixel at any size. */
const decimals = 4

function openFont(file: string): Font {
  const bytes = readFileSync(join(packageRoot, 'src', 'web', 'fonts', file))
  // Glyphs are parsed when they are used: to parse all takes most of a second.
  const font = opentype.parse(new Uint8Array(bytes).buffer, { lowMemory: true })
  const known = new Map<string, Glyph>()

  function draw(character: string): Glyph {
    const glyph = font.charToGlyph(character)
    if (glyph.index === 0) return missing
    return { advance: (glyph.advanceWidth ?? 0) / font.unitsPerEm, path: glyph.getPath(0, 0, 1).toPathData(decimals) }
  }

  return {
    glyph(character) {
      const before = known.get(character)
      if (before !== undefined) return before
      const glyph = draw(character)
      if (known.size >= maxGlyphs) known.clear()
      known.set(character, glyph)
      return glyph
    },
  }
}

/** The characters that most pictures have. */
const common = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index))

/**
 * Opens the fonts and draws the most common characters, a few in each turn of the event loop: all of them take some 60 ms, which
 * would be in the way of everything else if the first picture drew them.
 */
export async function warmFonts(): Promise<void> {
  const { regular, bold } = openFonts()
  for (const character of common) {
    await new Promise((resolve) => setImmediate(resolve))
    regular.glyph(character)
    bold.glyph(character)
  }
}

let fonts: { readonly regular: Font; readonly bold: Font } | undefined

/** The fonts that the package ships, so that a picture looks the same on a machine without fonts. */
export function openFonts() {
  fonts ??= { regular: openFont('DejaVuSans.ttf'), bold: openFont('DejaVuSans-Bold.ttf') }
  return fonts
}
