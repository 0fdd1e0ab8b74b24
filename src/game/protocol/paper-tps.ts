import { decimal, toNumber, toSeconds } from './decimal.ts'

export interface PaperTps {
  /** Mean ticks per second of the last 1, 5 and 15 minutes. */
  readonly '1m': number
  readonly '5m': number
  readonly '15m': number
}

/** Mean seconds per tick. */
export interface PaperMspt {
  readonly '5s': number
  readonly '10s': number
  readonly '1m': number
}

const rate = `\\*?(${decimal})`
const tps = new RegExp(`^TPS from last 1m, 5m, 15m: ${rate}, ${rate}, ${rate}$`)
const times = `(${decimal})/${decimal}/${decimal}`
const mspt = new RegExp(`^Server tick times \\(avg/min/max\\) from last 5s, 10s, 1m:\\s*(?:◴ ?)?${times}, ${times}, ${times}$`)

/** Parses Paper's reply to `tps`, without § codes; a `*` marks a capped number. Undefined for any other text. */
export function parsePaperTps(reply: string): PaperTps | undefined {
  const match = tps.exec(reply)
  return match ? { '1m': toNumber(match[1]), '5m': toNumber(match[2]), '15m': toNumber(match[3]) } : undefined
}

/** Parses Paper's reply to `mspt`, without § codes; undefined for any other text. */
export function parsePaperMspt(reply: string): PaperMspt | undefined {
  const match = mspt.exec(reply)
  return match ? { '5s': toSeconds(match[1]), '10s': toSeconds(match[2]), '1m': toSeconds(match[3]) } : undefined
}

const cuberiteTps = new RegExp(`^Global TPS: ${decimal}(?:\n|$)`)

/** Returns true for Cuberite's reply to `tps`, whose rates are not comparable and not used. */
export const isCuberiteTps = (reply: string): boolean => cuberiteTps.test(reply)
