/** The folder that clean checkouts share. */
export const userCache: string
/** A folder in it that is filled once for each key. @returns its path */
export function cachedFolder(
  name: string,
  key: string,
  fill: (folder: string) => Promise<unknown>,
  cache?: string,
): Promise<string>
