import { basename } from 'node:path'

/** Replies name files, not the folders of this machine: of each quoted absolute path, as in the errors of the file system, only the file is left. */
export const hideFolders = (text: string): string =>
  text.replaceAll(/'((?:\/|[A-Za-z]:\\)[^']*)'/g, (_match, path: string) => `'${basename(path.replaceAll('\\', '/'))}'`)
