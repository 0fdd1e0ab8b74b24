import { decimal, parseMilliseconds, toNumber } from '../decimal.ts'

export const tpsWindows = ['5s', '1m', '5m', '15m'] as const

/** Mean ticks per second over each window that the server reports. */
export type PaperTps = Readonly<Partial<Record<(typeof tpsWindows)[number], number>>>

/** Mean seconds per tick. */
export interface PaperMspt {
  readonly '5s': number
  readonly '10s': number
  readonly '1m': number
}

/** The windows, and their rates with a `*` before or after a capped one. Other lines may come before and after it. */
const tps = new RegExp(`TPS from last ([\\dsmh, ]{2,60}):\\s*((?:\\*?${decimal}\\*?(?:, ?|(?![\\d.,*]|E\\d))){1,8})`)
const eachDecimal = new RegExp(decimal, 'g')
const times = `(${decimal})/${decimal}/${decimal}`
const mspt = new RegExp(`^Server tick times \\(avg/min/max\\) from last 5s, 10s, 1m:\\s*(?:◴ ?)?${times}, ${times}, ${times}$`)

/**
 * Parses the reply to `tps` of Spigot and its forks (Paper, Purpur, Magma), without § codes. Undefined for any other text, or if the
 * number of rates is not that of the windows.
 */
export function parsePaperTps(reply: string): PaperTps | undefined {
  const [, windows = '', list = ''] = tps.exec(reply) ?? []
  const labels = windows.split(/, ?/)
  const rates = list.match(eachDecimal) ?? []
  const known = tpsWindows.filter((window) => labels.includes(window))
  if (known.length === 0 || rates.length !== labels.length) return undefined
  return Object.fromEntries(known.map((window) => [window, toNumber(rates[labels.indexOf(window)])]))
}

/** Parses Paper's reply to `mspt`, without § codes; undefined for any other text. */
export function parsePaperMspt(reply: string): PaperMspt | undefined {
  const match = mspt.exec(reply)
  return match
    ? { '5s': parseMilliseconds(match[1]), '10s': parseMilliseconds(match[2]), '1m': parseMilliseconds(match[3]) }
    : undefined
}

const cuberiteTps = new RegExp(`^Global TPS: ${decimal}(?:\n|$)`)

/** Returns true for Cuberite's reply to `tps`, whose rates are not comparable and not used. */
export const isCuberiteTps = (reply: string): boolean => cuberiteTps.test(reply)
