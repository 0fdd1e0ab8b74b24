import { counter, gauge, type PartFamily } from './family.ts'

export const notify: readonly PartFamily[] = [
  counter(
    'tickwarden_notifications_total',
    'Notifications since the service started, by channel and outcome: sent, failed (given up) or dropped (too many waited).',
    ({ channels = [] }, add) => {
      for (const { channel, sent, failed, dropped } of channels) {
        add(sent, channel, 'sent')
        add(failed, channel, 'failed')
        add(dropped, channel, 'dropped')
      }
    },
    { labels: ['channel', 'outcome'] },
  ),
  gauge(
    'tickwarden_notification_channel_up',
    '1 if the last attempt to send through the notification channel succeeded or there was none, 0 if it failed.',
    ({ channels = [] }, add) => {
      for (const { channel, problem } of channels) add(problem === undefined, channel)
    },
    { labels: ['channel'] },
  ),
  gauge(
    'tickwarden_notifications_waiting',
    'Notifications that wait to be sent, by channel.',
    ({ channels = [] }, add) => {
      for (const { channel, waiting } of channels) add(waiting, channel)
    },
    { labels: ['channel'] },
  ),
]
