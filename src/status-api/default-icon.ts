import { loadSharp } from '../util/sharp.ts'

/** A watchtower, drawn by hand: one character is one pixel of 16x16. */
const rows = [
  '................',
  '..a..a.aa.a..a..',
  '..aaaaaaaaaaaa..',
  '..abbbbbbbbbba..',
  '...abbbccbbba...',
  '...abbcccbba....',
  '...abbbccbbba...',
  '...aabbbbbbaa...',
  '....abbbbbba....',
  '....ab.bb.ba....',
  '....abbbbbba....',
  '....abbbbbba....',
  '....abb..bba....',
  '...aabb..bbaa...',
  '..aaabb..bbaaa..',
  '.dddddddddddddd.',
]

const colours: Readonly<Record<string, readonly [number, number, number, number]>> = {
  '.': [0, 0, 0, 0],
  a: [74, 85, 104, 255],
  b: [148, 163, 184, 255],
  c: [250, 204, 21, 255],
  d: [77, 124, 15, 255],
}

/** The icon of a server without its own: 64x64 PNG. */
export async function drawDefaultIcon(): Promise<Buffer> {
  const sharp = await loadSharp()
  const pixels = rows.flatMap((row) => [...row].flatMap((pixel) => colours[pixel] ?? []))
  return sharp(Buffer.from(pixels), { raw: { width: 16, height: rows.length, channels: 4 } })
    .resize(64, 64, { kernel: 'nearest' })
    .png({ palette: true })
    .toBuffer()
}
