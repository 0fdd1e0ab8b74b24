/**
 * Pattern of a decimal number as a server prints it: the JVM's locale may make the point a comma. A text with hundreds of digits,
 * which would be read as infinity, is none of a server's numbers.
 */
export const decimal = String.raw`\d{1,12}(?:[.,]\d{1,20})?`

/** A decimal with a point or a comma; NaN for no text, so that a check for a finite number catches it. */
export const toNumber = (text: string | undefined): number => (text ? Number(text.replace(',', '.')) : Number.NaN)

/** Printed milliseconds as seconds, exact to the last printed digit (a division by 1000 is not). */
export const toSeconds = (milliseconds: string | undefined): number =>
  milliseconds ? Number(`${milliseconds.replace(',', '.')}e-3`) : Number.NaN

/** A whole number that a double holds exactly. */
export function toInteger(digits: string | undefined): number | undefined {
  const value = digits && /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}
