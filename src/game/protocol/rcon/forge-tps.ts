import { decimal, parseMilliseconds, toNumber } from '../decimal.ts'

export interface Dimension {
  /** As reported by the server, e.g. `minecraft:overworld` or `Overworld`. */
  readonly name: string
  /** Mean seconds per tick. */
  readonly tickDurationMean: number
  /** Ticks per second as computed by the server, never above its target. */
  readonly tickRate: number
}

export interface ForgeTps {
  readonly dimensions: readonly Dimension[]
  /** Mean seconds per tick of the whole server. */
  readonly tickDurationMean: number
}

const forge = new RegExp(
  `\\s*(?:Dim +(?<name>\\S+?)(?: \\([^()]*\\))?|Overall) ?: Mean tick time: (?<mean>${decimal}) ms\\. Mean TPS: (?<rate>${decimal})`,
  'gy',
)
const neoForge = new RegExp(
  `\\s*(?<name>[^:\\s][^:]*(?::[^: ]+)*): (?<rate>${decimal}) TPS \\((?<mean>${decimal}) ms/tick\\)`,
  'gy',
)

/** Parses Forge's reply to `forge tps`, with its lines joined without a separator; undefined for any other text. */
export const parseForgeTps = (reply: string): ForgeTps | undefined => parse(reply, forge)

/**
 * Parses NeoForge's reply to `neoforge tps`, with its lines joined without a separator; undefined for any other text. Until September
 * 2024, in Minecraft 1.20.2 to 1.21.1, it was in the form of Forge.
 */
export const parseNeoForgeTps = (reply: string): ForgeTps | undefined => parse(reply, neoForge) ?? parse(reply, forge)

function parse(reply: string, line: RegExp): ForgeTps | undefined {
  const lines = [...reply.matchAll(line)]
  const covered = lines.reduce((sum, [match]) => sum + match.length, 0)
  // If a line did not match, a dimension would be missing silently.
  if (lines.length === 0 || covered !== reply.length) return undefined
  const read = lines.map(({ groups }) => ({
    name: groups?.name ?? 'Overall',
    tickDurationMean: parseMilliseconds(groups?.mean),
    tickRate: toNumber(groups?.rate),
  }))
  const overall = read.find(({ name }) => name === 'Overall')
  if (overall === undefined) return undefined
  return { dimensions: read.filter((dimension) => dimension !== overall), tickDurationMean: overall.tickDurationMean }
}
