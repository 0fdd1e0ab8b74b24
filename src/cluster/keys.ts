/** Version of the stored data. Replicas of another version form a separate cluster. */
export const schemaVersion = 3

/** Names of the keys in the shared state. */
export interface StateKeys {
  /** Sorted set: the live members by the time at which they expire, milliseconds of Redis. */
  readonly members: string
  /** Hash: `epoch`, `position` of the last entry of the stream, and until when any replica has event clients (`watched`). */
  readonly state: string
  readonly stream: string
  /** Hash: the newest snapshot of each server by fingerprint and name. */
  readonly snapshots: string
  icon(hash: string): string
  /** Hash: values that replicas of all versions share, by the part that uses them. */
  values(part: string): string
  /** List of a queue, and hash of its values. */
  queue(name: string): string
  queueValues(name: string): string
  /** Locks are shared by replicas of all versions, because they guard external side effects. */
  lock(name: string): string
  /** The last token issued for a lock. */
  lockCounter(name: string): string
  /** The value stored with a lock, such as the time of the last run. */
  lockValue(name: string): string
}

/** @param prefix STATE_PREFIX. Used in braces as a hash tag, so that a Redis Cluster stores all keys on one server. */
export function createStateKeys(prefix: string): StateKeys {
  const all = `{${prefix}}`
  const own = `${all}:${schemaVersion}`
  return {
    members: `${own}:members`,
    state: `${own}:state`,
    stream: `${own}:stream`,
    snapshots: `${own}:snapshots`,
    icon: (hash) => `${own}:icon:${hash}`,
    values: (part) => `${all}:values:${part}`,
    queue: (name) => `${all}:queue:${name}`,
    queueValues: (name) => `${all}:queue-values:${name}`,
    lock: (name) => `${all}:lock:${name}`,
    lockCounter: (name) => `${all}:lock-token:${name}`,
    lockValue: (name) => `${all}:lock-value:${name}`,
  }
}
