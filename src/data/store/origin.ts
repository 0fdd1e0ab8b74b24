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
   * Reads the text; undefined if it has not changed since the last read.
   * @param again return it even if it has not changed
   * @throws SnapshotError if it cannot be read
   */
  read(again: boolean): Promise<string | undefined>
  /** Returns a copy of the last valid text, to serve until read() has resolved. */
  restore?(): Promise<string | undefined>
  /** Keeps a copy of the text that was read last, which has proved to be a valid snapshot. */
  keep?(text: string): Promise<void>
  /** Calls `changed` when the text may have changed. @returns a function that stops watching */
  watch?(changed: () => void): () => void
  close(): Promise<void>
}
