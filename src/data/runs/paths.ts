import { basename } from 'node:path'

/** Reduces each quoted absolute path, as in file system errors, to its file name, because replies must not expose local folders. */
export const hideFolders = (text: string): string =>
  text.replaceAll(/'((?:\/|[A-Za-z]:\\)[^']*)'/g, (_match, path: string) => `'${basename(path.replaceAll('\\', '/'))}'`)
