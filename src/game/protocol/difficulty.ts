/** Reply to `difficulty` (1.13 and later), in lower case; undefined for another text. */
export const parseDifficulty = (reply: string): string | undefined =>
  /^The difficulty is (Peaceful|Easy|Normal|Hard)$/.exec(reply)?.[1]?.toLowerCase()
