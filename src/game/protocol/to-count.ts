/** Returns a number of JSON that is an integer from 0 to 2^53 - 1; undefined for anything else. */
export const toCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
