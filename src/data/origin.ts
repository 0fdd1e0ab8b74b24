/** Where a snapshot comes from: a file or a URL. */
export interface Origin {
  readonly kind: 'file' | 'url' | 'sample'
  /** As every client may see it: a file name or a URL, without folders and secrets. */
  readonly name: string
  /** As the log has it: the whole path of a file, a URL without secrets. */
  readonly place: string
  /** Milliseconds between two looks. */
  readonly interval: number
  /**
   * The text, unless it is the one read last.
   * @param again read it even so
   * @throws SnapshotError where there is none to be had
   */
  read(again: boolean): Promise<SnapshotText | undefined>
  /** The last good text that was kept, to start with until read() has an answer. */
  restore?(): Promise<SnapshotText | undefined>
  /** Calls `changed` when a look is worth it before its time; the function returned stops that. */
  watch?(changed: () => void): () => void
  close(): Promise<void>
}

export interface SnapshotText {
  readonly text: string
  /** To be called once the text has turned out to be a snapshot. */
  accept?(): Promise<void>
}
