/** Version of what is stored and published. Replicas of another version are not seen: they form a cluster of their own. */
export const schemaVersion = 1

/** Names of the keys and of the channel in the shared state. */
export interface StateKeys {
  /** The set of the ids of all members, perhaps with some that are gone. */
  readonly members: string
  member(id: string): string
  snapshot(server: string): string
  icon(hash: string): string
  /** Locks are shared by replicas of all versions: what they guard has effects outside. */
  lock(name: string): string
  /** The last token that was given for a lock. */
  lockCounter(name: string): string
  /** What is remembered of it, such as when it was last done. */
  lockValue(name: string): string
  /** Channels are not divided by databases as keys are, so its name holds the database. */
  readonly channel: string
  /** Published when the members have changed. */
  readonly membersMessage: string
  /** Published with each heartbeat, so that whoever listens gets some message. */
  readonly pulseMessage: string
}

/** @param prefix STATE_PREFIX. In braces: in a cluster, all keys are on one server. */
export function createStateKeys(prefix: string, database: number): StateKeys {
  const all = `{${prefix}}`
  const own = `${all}:${schemaVersion}`
  return {
    members: `${own}:members`,
    member: (id) => `${own}:member:${id}`,
    snapshot: (server) => `${own}:snapshot:${server}`,
    icon: (hash) => `${own}:icon:${hash}`,
    lock: (name) => `${all}:lock:${name}`,
    lockCounter: (name) => `${all}:lock-token:${name}`,
    lockValue: (name) => `${all}:lock-value:${name}`,
    channel: `${own}:${database}`,
    membersMessage: 'members',
    pulseMessage: 'pulse',
  }
}
