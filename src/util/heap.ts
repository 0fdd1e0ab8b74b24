import { setFlagsFromString } from 'node:v8'

/** Percent by which the heap may grow between two collections. */
const growth = 80

/**
 * Makes V8 collect garbage earlier than by default, which lets the heap grow to four times of what is in use. Polls create so much
 * garbage that thousands of servers would always take that much memory (`npm run bench -- fleet`).
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
}
