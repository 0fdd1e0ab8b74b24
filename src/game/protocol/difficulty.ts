/** Parses the reply to `difficulty` (1.13 and later), in lower case; undefined for any other text. */
export const parseDifficulty = (reply: string): string | undefined =>
  /^The difficulty is (Peaceful|Easy|Normal|Hard)$/.exec(reply)?.[1]?.toLowerCase()
