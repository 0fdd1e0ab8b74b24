import type { KnownFields, ServerSnapshot } from '../../src/game/snapshot.ts'

export interface Sample {
  /** Values of the family's labels, in the order of `labels`. */
  readonly labels: readonly string[]
  /** One that is not finite counts as unknown and is left out. */
  readonly value: number
}

/** One metric and how to read it from `T`. A renamed metric or label is a breaking change. */
export interface Family<T = ServerSnapshot> {
  /** As it is exposed, a counter with its `_total`. */
  readonly name: string
  readonly type: 'gauge' | 'counter'
  /** Names the unit and the window. */
  readonly help: string
  readonly labels: readonly string[]
  /** Nothing where the value is not known. */
  read(from: T): readonly Sample[]
}

/** A family of a watched server. */
export interface ServerFamily extends Family {
  /**
   * True: one poll tells its value, so that /probe serves it. False: it takes more than one, as what is counted between polls or
   * since the service started.
   */
  readonly perPoll: boolean
}

const nothing: readonly never[] = []

/** The samples of a family without labels. */
export const single = (value: number | undefined): readonly Sample[] =>
  value === undefined ? nothing : [{ labels: nothing, value }]

export const flag = (value: boolean | undefined): readonly Sample[] => single(value === undefined ? undefined : Number(value))

/** The fields as long as the server is not known to be down: what it last said then is no longer so. */
export const live = ({ up, fields }: ServerSnapshot): KnownFields => (up === false ? {} : fields)
