import type { KnownFields, ServerSnapshot } from '../../src/game/snapshot.ts'

export interface Sample {
  /** Values of the family's labels, in the order of `labels`. */
  readonly labels: readonly string[]
  /** A value that is not finite is treated as unknown and not written. */
  readonly value: number
}

/** One metric and how to read it from `T`. A renamed metric or label is a breaking change. */
export interface Family<T = ServerSnapshot> {
  /** As exposed: a counter's name includes `_total`. */
  readonly name: string
  readonly type: 'gauge' | 'counter'
  /** States the unit and the window. */
  readonly help: string
  readonly labels: readonly string[]
  /** Empty if the value is unknown. */
  read(from: T): readonly Sample[]
}

/** A family of a watched server. */
export interface ServerFamily extends Family {
  /**
   * True if a single poll is enough to read the value, so that /probe can serve it. False for values that need several polls,
   * such as counters since the service started.
   */
  readonly perPoll: boolean
}

const nothing: readonly never[] = []

/** The samples of a family without labels. */
export const single = (value: number | undefined): readonly Sample[] =>
  value === undefined ? nothing : [{ labels: nothing, value }]

export const flag = (value: boolean | undefined): readonly Sample[] => single(value === undefined ? undefined : Number(value))

/** The fields, or none if the server is down: its last values are no longer valid. */
export const live = ({ up, fields }: ServerSnapshot): KnownFields => (up === false ? {} : fields)
