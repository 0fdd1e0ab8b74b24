import { toNumber } from '../../protocol/decimal.ts'

export type LogEvent =
  | { readonly kind: 'version'; readonly version: string }
  /** `version` is absent if the server states a commit or the version of the game instead. */
  | { readonly kind: 'loader'; readonly loader: string; readonly version?: string }
  /** The server has started. */
  | { readonly kind: 'started'; readonly seconds: number }
  /** The server cannot keep up and is this many ticks behind. */
  | { readonly kind: 'overload'; readonly ticks: number }
  /** The port of the management protocol, which is chosen by the system if it is configured as 0. */
  | { readonly kind: 'management'; readonly port: number }
  | { readonly kind: 'joined' | 'left'; readonly name: string }

/**
 * The prefix of a log line: `[12:34:56] [Server thread/INFO]: `, in Paper `[12:34:56 INFO]: `, in Forge
 * `[12Mar2025 12:34:56.789] [Server thread/INFO] [minecraft/MinecraftServer]: `, in Fabric `... (Minecraft) `. Matched only at the
 * start of the line, since chat messages come after it.
 */
const prefix = /^\[[^[\]]{1,60}\](?: \[[^[\]]{1,120}\]){0,2}(?:: | \([^()]{1,60}\):? )/

/**
 * Returns the build number of Paper and other servers with Bukkit: of `git-Paper-196`, `1.21.4-232-12d8fe0`, `1.21.4-232-main@12d8fe0`
 * or `4110-Spigot-3f9263b`; the version in `arclight-1.20.1-1.0.6-4e94eb7`. Undefined for others, such as `git-Spigot-db6de12-18fbb24`.
 */
export const buildNumber = (text: string): string | undefined =>
  /^(?:(?:git-[A-Za-z]+-)?(?:\d+\.[\d.]*-)?(?=\d{1,6}(?:-|$))|arclight-[\d.]+-)(\d[\d.]*)/.exec(text)?.[1]

/** Each with the event of its first two groups; `''` for one that takes no part. */
const patterns: readonly (readonly [RegExp, (first: string, second: string) => LogEvent])[] = [
  [
    /^Can't keep up! .*Running \d+ ?ms(?: or (\d+) ticks behind| behind, skipping (\d+) tick\(s\))/,
    (modern, old) => ({ kind: 'overload', ticks: Number(modern || old) }),
  ],
  [/^Json-RPC Management connection listening on \S{1,253}:(\d{1,5})$/, (port) => ({ kind: 'management', port: Number(port) })],
  [/^Done \((\d+(?:[.,]\d+)?)s\)!/, (took) => ({ kind: 'started', seconds: toNumber(took) })],
  // `1.21.11`, but also `1.21.11 Pre-Release 3`
  [/^Starting minecraft server version (\S[^\n]{0,59})$/i, (version) => ({ kind: 'version', version })],
  [
    /^Loading (?:Minecraft|for game Minecraft) \S+ with (Fabric|Quilt) Loader (\S{1,60})$/,
    (loader, version) => ({ kind: 'loader', loader, version }),
  ],
  [
    /^ModLauncher running: args \[.*--fml\.neoForgeVersion, ([\w.+-]{1,60})/,
    (version) => ({ kind: 'loader', loader: 'NeoForge', version }),
  ],
  // NeoForge for 1.20.1 starts as Forge, in a group of its own.
  [
    /^ModLauncher running: args \[.*--fml\.forgeVersion, ([\w.+-]{1,60})(?:.*(--fml\.forgeGroup, net\.neoforged))?/,
    (version, isNeoForge) => ({ kind: 'loader', loader: isNeoForge ? 'NeoForge' : 'Forge', version }),
  ],
  // Forge up to 1.12.2, whose version is not found in `libraries`.
  [/^MinecraftForge v(\d[\d.]{0,40})\S{0,20} Initialized$/, (version) => ({ kind: 'loader', loader: 'Forge', version })],
  [
    /^This server is running ([A-Za-z][\w-]{0,30}) version (\S{1,100}) /,
    (loader, text) => {
      const version = buildNumber(text)
      return { kind: 'loader', loader, ...(version !== undefined && { version }) }
    },
  ],
  [/^([^\s<>[\]*]{1,32})(?: \(formerly known as \S{1,32}\))? joined the game$/, (name) => ({ kind: 'joined', name })],
  [/^([^\s<>[\]*]{1,32}) left the game$/, (name) => ({ kind: 'left', name })],
]

/** Parses one line of `latest.log`; undefined if it is not one of these events. */
export function parseLogLine(line: string): LogEvent | undefined {
  const head = prefix.exec(line)
  if (head === null) return undefined
  const message = line.slice(head[0].length).trimEnd()
  for (const [pattern, toEvent] of patterns) {
    const found = pattern.exec(message)
    if (found) return toEvent(found[1] ?? '', found[2] ?? '')
  }
  return undefined
}
