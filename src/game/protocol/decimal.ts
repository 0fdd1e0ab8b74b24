/**
 * Pattern of a decimal number as printed by a server. The separator is a point or a comma, depending on the locale of the JVM. The
 * number of digits is limited, so that it is never parsed as Infinity.
 */
export const decimal = String.raw`\d{1,12}(?:[.,]\d{1,20})?`

/** Parses a decimal with a point or a comma; NaN if there is no text. */
export const toNumber = (text: string | undefined): number => (text ? Number(text.replace(',', '.')) : Number.NaN)

/** Converts printed milliseconds to seconds, exact to the last digit (dividing by 1000 is not); NaN if there is no text. */
export const parseMilliseconds = (milliseconds: string | undefined): number =>
  milliseconds ? Number(`${milliseconds.replace(',', '.')}e-3`) : Number.NaN

/** Parses an integer from 0 to 2^53 - 1; undefined for anything else. */
export function toInteger(digits: string | undefined): number | undefined {
  const value = digits && /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}
