/** Where a snapshot is read from: a file or a URL. */
export interface Origin {
  readonly kind: 'file' | 'url' | 'sample'
  /** For clients: the name of a file, or the host and the last segment of a URL. */
  readonly name: string
  /** For the log: the whole path of a file, a URL without user name, password and query. */
  readonly place: string
  /** Milliseconds between two reads. */
  readonly interval: number
  /**
   * The text, or undefined if it is the one read last.
   * @param again return it in any case
   * @throws SnapshotError if it cannot be read
   */
  read(again: boolean): Promise<SnapshotText | undefined>
  /** A copy of the last good text, to start with until read() has resolved. */
  restore?(): Promise<SnapshotText | undefined>
  /** Calls `changed` when the text has probably changed; the function returned stops that. */
  watch?(changed: () => void): () => void
  close(): Promise<void>
}

export interface SnapshotText {
  readonly text: string
  /** Call it once the text has turned out to be a snapshot. */
  accept?(): Promise<void>
}
