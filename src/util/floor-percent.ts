/**
 * 0 to 1 as percent with two digits, rounded down so that 100 means never down. The product is rounded to 8 digits first, because
 * 0.57 * 10,000 is 5,699.999999999999.
 */
export const floorPercent = (part: number): number => Math.floor(Number((part * 10_000).toFixed(8))) / 100
