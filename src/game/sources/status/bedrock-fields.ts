import type { Fields } from '../../fields.ts'
import { parseGameMode } from '../../protocol/game-mode.ts'
import type { BedrockStatus } from '../../protocol/status/unconnected-ping.ts'
import { stripFormatting, toWellFormed } from '../../protocol/text.ts'

/** Converts the status of a Bedrock server to fields, for both transports. */
export function toBedrockFields({ motd, protocol, version, gameMode, software, ...counts }: BedrockStatus): Partial<Fields> {
  const mode = parseGameMode(gameMode)
  return {
    edition: 'bedrock',
    ...(version !== undefined && /^\d{1,3}(?:\.\d{1,4}){1,3}$/.test(version) && { version }),
    ...(protocol !== undefined && { protocol }),
    ...(software !== undefined && { software }),
    ...(software === 'Geyser' && { proxy: true }),
    ...(motd !== undefined && { motd: stripFormatting(motd) }),
    ...(motd?.includes('§') && { formattedMotd: toWellFormed(motd) }),
    ...counts,
    ...(counts.playersOnline === 0 && { players: { players: [], complete: true } }),
    ...(mode && { defaultGameMode: mode }),
    rawStatus: { version: version ?? '', ...counts },
  }
}
