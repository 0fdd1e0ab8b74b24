/** Version of the stored and published data. Replicas of another version form a separate cluster. */
export const schemaVersion = 2

/** Names of the keys and of the channel in the shared state. */
export interface StateKeys {
  /** The set of the ids of all members; may contain dead ones. */
  readonly members: string
  member(id: string): string
  /** The digest of the list of servers of a member. */
  listOf(id: string): string
  /** The list of servers with this digest. */
  list(digest: string): string
  snapshot(server: string): string
  icon(hash: string): string
  /** Locks are shared by replicas of all versions, because they guard external side effects. */
  lock(name: string): string
  /** The last token issued for a lock. */
  lockCounter(name: string): string
  /** The value stored with a lock, such as the time of the last run. */
  lockValue(name: string): string
  /** The name contains the database, because channels are shared by all databases of a server. */
  readonly channel: string
  /** Published when the members have changed. */
  readonly membersMessage: string
  /** Published when a member has announced another list of servers. */
  readonly listsMessage: string
  /** Published with each heartbeat, so that subscribers can detect a broken connection. */
  readonly pulseMessage: string
}

/** @param prefix STATE_PREFIX. Used in braces as a hash tag, so that a Redis Cluster stores all keys on one server. */
export function createStateKeys(prefix: string, database: number): StateKeys {
  const all = `{${prefix}}`
  const own = `${all}:${schemaVersion}`
  return {
    members: `${own}:members`,
    member: (id) => `${own}:member:${id}`,
    listOf: (id) => `${own}:list-of:${id}`,
    list: (digest) => `${own}:list:${digest}`,
    snapshot: (server) => `${own}:snapshot:${server}`,
    icon: (hash) => `${own}:icon:${hash}`,
    lock: (name) => `${all}:lock:${name}`,
    lockCounter: (name) => `${all}:lock-token:${name}`,
    lockValue: (name) => `${all}:lock-value:${name}`,
    channel: `${own}:${database}`,
    membersMessage: 'members',
    listsMessage: 'lists',
    pulseMessage: 'pulse',
  }
}
