/** Version of the stored data. Replicas of another version form a separate cluster. */
export const schemaVersion = 3

/**
 * Names of the keys in the shared state.
 * @param prefix STATE_PREFIX. Used in braces as a hash tag, so that a Redis Cluster stores all keys on one server.
 */
export function createStateKeys(prefix: string) {
  const all = `{${prefix}}`
  const own = `${all}:${schemaVersion}`
  return {
    /** Sorted set: the live members by the time at which they expire, milliseconds of Redis. */
    members: `${own}:members`,
    /** Hash: `epoch`, `position` of the last entry of the stream, and until when any replica has event clients (`watched`). */
    state: `${own}:state`,
    stream: `${own}:stream`,
    /** The newest snapshot of a server. */
    snapshot: (key: string) => `${own}:snapshot:${key}`,
    icon: (hash: string) => `${own}:icon:${hash}`,
    /** Hash: values that replicas of all versions share, by the part that uses them. */
    values: (part: string) => `${all}:values:${part}`,
    /** List of a queue, and hash of its values. */
    queue: (name: string) => `${all}:queue:${name}`,
    queueValues: (name: string) => `${all}:queue-values:${name}`,
    /** Locks are shared by replicas of all versions, because they guard external side effects. */
    lock: (name: string) => `${all}:lock:${name}`,
    /** The last token issued for a lock. */
    lockCounter: (name: string) => `${all}:lock-token:${name}`,
    /** The value stored with a lock, such as the time of the last run. */
    lockValue: (name: string) => `${all}:lock-value:${name}`,
  } as const
}
