/**
 * Non-negative decimals in 16 bits: 14 bits of digits and 2 bits for the place of the last digit. 3 digits after the point up to
 * 16.38, 2 up to 163.8, 1 up to 1638, tens up to 163,820. Half the size of a float, and decoded values have no rounding noise:
 * 19.98, not 19.979999.
 */
const scales = [0.001, 0.01, 0.1, 10] as const
const inverse = [1000, 100, 10, 0.1] as const
const maxDigits = 0x3fff - 1

/** The code of an unknown value. */
export const unknown16 = 0xffff

/** @param value clamped to the range 0 to 163,820; NaN is unknown */
export function encode16(value: number): number {
  if (Number.isNaN(value)) return unknown16
  for (let place = 0; place < scales.length; place++) {
    const digits = Math.round(Math.max(0, value) * (inverse[place] ?? 1))
    if (digits <= maxDigits) return (place << 14) | digits
  }
  return (3 << 14) | maxDigits
}

/** @returns NaN if unknown */
export function decode16(code: number): number {
  if (code === unknown16) return Number.NaN
  const place = code >> 14
  const digits = code & 0x3fff
  return place === 3 ? digits * scales[3] : digits / (inverse[place] ?? 1)
}
