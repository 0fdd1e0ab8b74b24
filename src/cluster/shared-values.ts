import type { SharedValues } from '../util/part-metrics.ts'
import type { StateConnection } from './connection.ts'

/** Their users report failures, as those of locks do. @param key of the hash */
export const createSharedValues = (connection: StateConnection, key: string): SharedValues => ({
  async all() {
    // The service reads them at its start.
    await connection.attempted()
    return connection.run('locks', (redis) => redis.hgetall(key))
  },
  async put(name, value) {
    await connection.run('locks', (redis) => redis.hset(key, name, value))
  },
})
