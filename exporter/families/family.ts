import type { DiscoveryView } from '../../src/discovery/status.ts'
import type { FieldName, Fields } from '../../src/game/fields.ts'
import type { PollSettings } from '../../src/game/server-settings.ts'
import { currentFields, type ServerSnapshot } from '../../src/game/snapshot.ts'
import type { ChannelMetrics, DataMetrics, LiveMetrics, ReplicaMetrics } from '../../src/util/part-metrics.ts'

/**
 * Adds a sample to a family.
 * @param value true is written as 1, false as 0; undefined and numbers that are not finite are unknown and not written
 * @param labels values of the family's labels, in the order of `labels`
 */
export type AddSample = (value: number | boolean | undefined, ...labels: readonly string[]) => void

/** One metric and how to read it from `T`. A renamed metric or label is a breaking change. */
export interface Family<T = ServerSnapshot> {
  /** As exposed: a counter's name includes `_total`. */
  readonly name: string
  readonly type: 'gauge' | 'counter'
  /** States the unit and the window. */
  readonly help: string
  readonly labels: readonly string[]
  /**
   * Adds each sample. Not by returning them: creating lists takes longer than writing the text (`npm run bench -- metrics`).
   * @param group of the server on /metrics; undefined if it has none
   * @param isMaintained whether the server is in maintenance; undefined if unknown, or if it is not a watched server
   */
  read(from: T, add: AddSample, group?: string, isMaintained?: boolean): void
}

/** A family of a watched server. */
export interface ServerFamily extends Family {
  /**
   * True if a single poll is enough to read the value, so that /probe can serve it. False for values that need several polls,
   * such as counters since the service started.
   */
  readonly perPoll: boolean
}

/** What is known of the service and its parts at one scrape. Parts that are absent are not exported. */
export interface Observed {
  readonly poll: Pick<PollSettings, 'interval'>
  readonly data?: DataMetrics | undefined
  readonly live?: LiveMetrics | undefined
  /** The notification channels. */
  readonly channels?: readonly ChannelMetrics[] | undefined
  readonly replica?: ReplicaMetrics | undefined
  readonly discovery?: DiscoveryView | undefined
}

/** A family of the service or one of its parts. Its counters count since the process started. */
export type PartFamily = Family<Observed>

interface More {
  /** Names of the labels; default: none. */
  readonly labels?: readonly string[]
  /** Default: true. */
  readonly perPoll?: boolean
}

type Make = <T = ServerSnapshot>(name: string, help: string, read: Family<T>['read'], more?: More) => Family<T> & ServerPart
type ServerPart = Pick<ServerFamily, 'perPoll'>

const make =
  (type: Family['type']): Make =>
  (name, help, read, { labels = [], perPoll = true } = {}) => ({ name, type, help, labels, perPoll, read })

export const gauge = make('gauge')
export const counter = make('counter')

type PlainField = { [K in FieldName]: Fields[K] extends number | boolean ? K : never }[FieldName]

/** Reads one field, which is unknown while the server is down. */
export const ofField =
  (name: PlainField): ServerFamily['read'] =>
  (snapshot, add) =>
    add(currentFields(snapshot)[name]?.value)

/** Reads a list: a sample for each item, with its label. An unknown list has none. */
export const ofEach =
  <T, Item>(listOf: (from: T) => Iterable<Item> | undefined, labelOf: (item: Item) => string) =>
  (value: (item: Item) => number | boolean | undefined): Family<T>['read'] =>
  (from, add) => {
    for (const item of listOf(from) ?? []) add(value(item), labelOf(item))
  }
