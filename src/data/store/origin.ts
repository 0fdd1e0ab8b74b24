/** A text, and what identifies its version: the ETag, or that of a file; undefined if it has none. */
interface VersionedText {
  readonly text: string
  readonly version: string | undefined
}

/** The source of a snapshot: a file or a URL. */
export interface Origin {
  readonly kind: 'file' | 'url' | 'sample'
  /** For clients: the name of a file, or the host and the last segment of a URL. */
  readonly name: string
  /** For the log: the whole path of a file, a URL without user name, password and query. */
  readonly place: string
  /** Milliseconds between two reads. */
  readonly interval: number
  /**
   * Reads the text; undefined if it still has this version.
   * @throws SnapshotError if it cannot be read
   */
  read(version?: string): Promise<VersionedText | undefined>
  /** Returns a copy of the last valid text, to serve until read() has resolved. */
  restore?(): Promise<VersionedText | undefined>
  /** Keeps a copy of a text that has proved to be a valid snapshot. */
  keep?(text: VersionedText): Promise<void>
  close?(): Promise<void>
}
