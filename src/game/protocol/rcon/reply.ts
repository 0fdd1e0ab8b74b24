/**
 * Normalises a reply: removes § codes (Bukkit sends them) and surrounding white space, and converts line ends to `\n`. Any other § is a part
 * of a name, as servers that do not check names allow.
 */
export const plainReply = (text: string): string =>
  text
    .replace(/§(?:#[0-9a-f]{6}|[0-9a-z])/gi, '')
    .replaceAll('\r\n', '\n')
    .trim()

/**
 * Returns true if the server does not support the command or its arguments: since 1.13 `Unknown or incomplete command` and other
 * errors with `<--[HERE]`, before that and on Bukkit `Unknown command`, before 1.13 `Usage: ...`.
 */
export const isUnknownCommand = (reply: string): boolean =>
  /^(?:Unknown (?:or incomplete )?command|Usage: )/i.test(reply) || reply.endsWith('<--[HERE]')

/** Parses the reply to `difficulty` (1.13 and later), in lower case; undefined for any other text. */
export const parseDifficulty = (reply: string): string | undefined =>
  /^The difficulty is (Peaceful|Easy|Normal|Hard)$/.exec(reply)?.[1]?.toLowerCase()
