import type { EventEmitter } from 'node:events'

/**
 * Counts what each client has open at the same time.
 * @returns a function that counts `opened` until it emits `close`; false, without counting it, if the client has `max` open already
 */
export function createOpenCounts(max: number): (client: string, opened: EventEmitter) => boolean {
  const counts = new Map<string, number>()
  return (client, opened) => {
    const open = counts.get(client) ?? 0
    if (open >= max) return false
    counts.set(client, open + 1)
    opened.once('close', () => {
      const left = (counts.get(client) ?? 1) - 1
      if (left > 0) counts.set(client, left)
      else counts.delete(client)
    })
    return true
  }
}
