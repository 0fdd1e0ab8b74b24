import { FileSizeError, readFileUpToSync } from '../util/files.ts'

/** Four bytes for each character that the parser of the config file accepts. */
const maxTextBytes = 16 * 1024 * 1024

/** Throws for bytes that are not UTF-8; removes a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A file that cannot be read as text. The message is the reason: `ENOENT`, or that it is a folder, too large or not UTF-8. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError'
  /** Of the system error; undefined if the file is too large or not UTF-8. */
  readonly code: string | undefined

  constructor(reason: string, code?: string) {
    super(reason)
    this.code = code
  }
}

/**
 * Reads a file as UTF-8, with or without a byte order mark.
 * @throws UnreadableFileError, also for UTF-16, which Windows PowerShell writes: its text would contain NUL characters
 */
export function readText(path: string, maxBytes = maxTextBytes): string {
  let bytes: Buffer
  try {
    bytes = readFileUpToSync(path, maxBytes)
  } catch (error) {
    if (error instanceof FileSizeError) throw new UnreadableFileError(error.reason)
    const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    throw new UnreadableFileError(code === 'EISDIR' ? 'it is a folder' : code, code)
  }
  if (!bytes.includes(0)) {
    try {
      return utf8.decode(bytes)
    } catch {}
  }
  throw new UnreadableFileError('not UTF-8 text; save it as UTF-8')
}
