// Finds code whose time grows faster than its input. Nothing is compared with a clock: only the CPU time of an input with that of one
// four times as long.

/** Creates an input of about `size` characters, bytes or elements. */
export type Maker = (size: number) => unknown

export interface Growth {
  /** The limit for the size of the input, or more characters than any real one has. */
  readonly maxSize: number
  readonly makers: Readonly<Record<string, Maker>>
  /** An error that it throws is ignored. */
  readonly run: (input: never) => unknown
}

/** How much longer the second input is. */
const factor = 4
/** Linear time grows by the factor, quadratic time by its square. Between them, because a garbage collection adds to it. */
const maxRatio = 2 * factor
/** CPU milliseconds below which an input is not measured but enlarged, because noise would be larger. */
const measurableMs = 10
/** Enough to measure quadratic time. */
const enoughSize = 32_768
const attempts = 6
/** Runs of the shorter input in an attempt: in a single one, a garbage collection may take as long as the longer input. */
const shorterRuns = 3

/** CPU time of this process, ms: unlike the time of day, it does not depend on what else the machine does. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

/** CPU time of a run, ms. */
export async function cpuMsOf(run: (input: never) => unknown, input: unknown): Promise<number> {
  const start = cpuMs()
  try {
    await run(input as never)
  } catch {}
  return cpuMs() - start
}

/**
 * Returns the ratio of the times of an input and one a quarter as long; undefined if the largest takes next to nothing. Measured
 * twice unless it is linear: a compilation or garbage collection may fall into the larger input. Growth that is not linear is found
 * again.
 */
export async function growthOf(growth: Growth, make: Maker): Promise<number | undefined> {
  const ratio = await measureGrowth(growth, make)
  return isLinear(ratio) ? ratio : measureGrowth(growth, make)
}

async function measureGrowth({ run, maxSize }: Growth, make: Maker): Promise<number | undefined> {
  const largest = Math.min(maxSize, enoughSize)
  let size = Math.min(1_024, largest)
  let input = make(size)
  // Twice: the first run may be slow only because the code is not compiled yet.
  const isMeasurable = async () => (await cpuMsOf(run, input)) >= measurableMs && (await cpuMsOf(run, input)) >= measurableMs
  while (!(await isMeasurable())) {
    if (size === largest) return undefined
    size = Math.min(factor * size, largest)
    input = make(size)
  }
  const smaller = make(Math.floor(size / factor))
  let [shortest, longest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let attempt = 0; attempt < attempts; attempt++) {
    for (let count = 0; count < shorterRuns; count++) shortest = Math.min(shortest, await cpuMsOf(run, smaller))
    longest = Math.min(longest, await cpuMsOf(run, input))
    if (longest < measurableMs / 2) return undefined
    // Measured again unless it is clearly linear.
    const ratio = longest / shortest
    if (ratio > factor / 2 && ratio < 1.25 * factor) break
  }
  return longest / shortest
}

export const isLinear = (ratio: number | undefined): boolean => ratio === undefined || ratio < maxRatio

const fill = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length))

/**
 * Texts of a grammar: each of its pieces repeated, also after another one, between a start and an end.
 * @param pieces tokens, with at least one character
 */
export function texts(pieces: readonly string[], start = '', end = ''): Record<string, Maker> {
  const makers: Record<string, Maker> = {}
  for (const piece of pieces) {
    makers[`${JSON.stringify(piece)} repeated`] = (size) => start + fill(piece, size) + end
    makers[`${JSON.stringify(piece)} repeated, without an end`] = (size) => `${start + fill(piece, size)}\u0001`
    for (const other of pieces) {
      if (other === piece) continue
      makers[`${JSON.stringify(piece + other)} repeated`] = (size) => start + fill(piece + other, size) + end
      makers[`${JSON.stringify(piece)} and ${JSON.stringify(other)} repeated`] = (size) =>
        start + fill(piece, size / 2) + fill(other, size / 2) + end
    }
  }
  return makers
}
