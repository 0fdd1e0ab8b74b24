import { createHash } from 'node:crypto'

const side = 8

function toRgb(hue: number, saturation: number, lightness: number): readonly number[] {
  const part = (n: number) => {
    const k = (n + hue / 30) % 12
    return lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1))
  }
  return [part(0), part(8), part(4)].map((value) => Math.round(value * 255))
}

/**
 * A pattern of 8 by 8 pixels, RGB, the same for the same UUID: its left half mirrored, in two tones of one colour on a third.
 * @param uuid dashed, lower case
 */
export function headPattern(uuid: string): { readonly pixels: Buffer; readonly side: number } {
  const digest = createHash('sha256').update(uuid).digest()
  const hue = (digest.readUInt16LE(0) / 65_536) * 360
  const tones = [toRgb(hue, 0.35, 0.24), toRgb(hue, 0.6, 0.5), toRgb((hue + 40) % 360, 0.65, 0.68)]
  const pixels = Array.from({ length: side * side }, (_, index) => {
    const [row, column] = [Math.floor(index / side), index % side]
    const byte = digest[2 + ((row * 4 + Math.min(column, side - 1 - column)) % 30)] ?? 0
    return tones[byte % 5 < 2 ? 0 : byte % 5 < 4 ? 1 : 2] ?? []
  })
  return { pixels: Buffer.from(pixels.flat()), side }
}
