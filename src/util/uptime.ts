/** The mean of the days, weighted by their known time; null if nothing is known. `up` and `known` are 0 to 1. */
export function meanUptime(days: readonly { readonly up: number | null; readonly known: number }[]): number | null {
  let [up, known] = [0, 0]
  for (const day of days) {
    if (day.up === null) continue
    up += day.up * day.known
    known += day.known
  }
  return known === 0 ? null : up / known
}

/**
 * 0 to 1 as percent with two digits, rounded down so that 100 means never down. The product is rounded to 8 digits first, because
 * 0.57 * 10,000 is 5,699.999999999999.
 */
export const floorPercent = (part: number): number => Math.floor(Number((part * 10_000).toFixed(8))) / 100
