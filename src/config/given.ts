/** The text of a setting, and where it was set. */
export interface Given {
  /** For messages: `MC_SERVER`, `--mc-server`, `tickwarden.yaml: poll.interval`. */
  readonly from: string
  readonly inFile: boolean
  /** Undefined if it could not be read, which is already reported. */
  readonly text: string | undefined
}
