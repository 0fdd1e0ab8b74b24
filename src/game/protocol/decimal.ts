const digit = String.raw`[\d\u0660-\u0669\u06f0-\u06f9]`

/**
 * Pattern of a decimal number as printed by a server. The locale of the JVM decides the separator, a point, a comma or U+066B, and the
 * digits, which are others in Arabic and Persian. Their number is limited, so that it is never parsed as Infinity.
 */
export const decimal = String.raw`${digit}{1,12}(?:[.,\u066b]${digit}{1,20})?`

/** With a point and the digits 0 to 9. */
const plain = (text: string): string =>
  text.replace(/[,\u066b]/, '.').replaceAll(/[^\d.]/g, (other) => String(other.charCodeAt(0) & 0xf))

/** Parses a decimal; NaN if there is no text. */
export const toNumber = (text: string | undefined): number => (text ? Number(plain(text)) : Number.NaN)

/** Converts printed milliseconds to seconds, exact to the last digit (dividing by 1000 is not); NaN if there is no text. */
export const parseMilliseconds = (milliseconds: string | undefined): number =>
  milliseconds ? Number(`${plain(milliseconds)}e-3`) : Number.NaN

/** Parses an integer from 0 to 2^53 - 1; undefined for anything else. */
export function toInteger(digits: string | undefined): number | undefined {
  const value = digits && /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}
