import { decimal, toNumber, toSeconds } from './decimal.ts'

export interface PaperTps {
  /** Ticks per second, mean of the last minute, five and fifteen minutes. */
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

/** Paper's reply to `tps`, without § codes; a `*` marks a capped number. Undefined for another text. */
export function parsePaperTps(reply: string): PaperTps | undefined {
  const match = tps.exec(reply)
  return match ? { '1m': toNumber(match[1]), '5m': toNumber(match[2]), '15m': toNumber(match[3]) } : undefined
}

/** Paper's reply to `mspt`, without § codes; undefined for another text. */
export function parsePaperMspt(reply: string): PaperMspt | undefined {
  const match = mspt.exec(reply)
  return match ? { '5s': toSeconds(match[1]), '10s': toSeconds(match[2]), '1m': toSeconds(match[3]) } : undefined
}

/** Cuberite's reply to `tps`, which names rates of another making: understood, and of no use. */
export const isCuberiteTps = (reply: string): boolean => new RegExp(`^Global TPS: ${decimal}(?:\n|$)`).test(reply)
