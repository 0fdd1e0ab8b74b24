import type { SharedQueue, SharedValues } from '../util/part-metrics.ts'
import type { StateConnection } from './connection.ts'

/** Their users report failures, as those of locks do. @param part that uses them */
export const createSharedValues = (connection: StateConnection, part: string): SharedValues => ({
  async all() {
    // The service reads them at its start.
    await connection.attempted()
    return connection.run('locks', (redis) => redis.hgetall(connection.keys.values(part)))
  },
  async put(name, value) {
    await connection.run('locks', (redis) => redis.hset(connection.keys.values(part), name, value))
  },
})

/** @param name of the queue */
export function createSharedQueue(connection: StateConnection, name: string): SharedQueue {
  const { keys } = connection
  const [values, queue] = [keys.queueValues(name), keys.queue(name)]
  return {
    value: async (field) => (await connection.run('locks', (redis) => redis.hget(values, field))) ?? undefined,
    async commit({ field, before = '', after = '', items, maxItems }) {
      const dropped = await connection.run('locks', (redis) =>
        redis.stateEnqueue(values, queue, field, before, after, maxItems, ...items),
      )
      return dropped < 0 ? undefined : dropped
    },
    oldest: (count) => connection.run('locks', (redis) => redis.lrange(queue, 0, count - 1)),
    length: () => connection.run('locks', (redis) => redis.llen(queue)),
    async remove(items) {
      for (const item of items) await connection.run('locks', (redis) => redis.lrem(queue, 1, item))
    },
  }
}
