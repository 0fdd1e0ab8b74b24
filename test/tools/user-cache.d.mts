/** What clean checkouts share, because it takes long to make: `.ci/run` puts helm there. */
export const userCache: string

/**
 * A folder in the cache of the user that is filled once, and afterwards only read. Test files and checkouts that need it at the same
 * time wait for each other.
 * @param key everything that decides the content
 * @param fill is called with the empty folder, which keeps its path
 */
export function cachedFolder(
  name: string,
  key: string,
  fill: (folder: string) => Promise<unknown>,
  cache?: string,
): Promise<string>
