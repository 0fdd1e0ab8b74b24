import type { Notification } from '../../src/notify/notification.ts'

let count = 0

/** A notification that differs from all others by its id. */
export const testNotification = (more: Partial<Notification> = {}): Notification => ({
  ...{ id: `id-${count++}`, at: 1_700_000_000_000, event: 'down', server: 'survival', group: null, text: 'survival is down' },
  ...{ error: null, duration: null, state: null, queuedAt: 1_700_000_000_000, ...more },
})
