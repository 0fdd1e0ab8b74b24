import type { ChannelMetrics } from '../../src/util/part-metrics.ts'
import type { Family } from './family.ts'

export const notify: readonly Family<readonly ChannelMetrics[]>[] = [
  {
    name: 'tickwarden_notifications_total',
    type: 'counter',
    help: 'Notifications since the service started, by channel and outcome: sent, failed (given up) or dropped (too many waited).',
    labels: ['channel', 'outcome'],
    read(channels, add) {
      for (const { channel, sent, failed, dropped } of channels) {
        add(sent, channel, 'sent')
        add(failed, channel, 'failed')
        add(dropped, channel, 'dropped')
      }
    },
  },
  {
    name: 'tickwarden_notification_channel_up',
    type: 'gauge',
    help: '1 if the last attempt to send through the notification channel succeeded or there was none, 0 if it failed.',
    labels: ['channel'],
    read(channels, add) {
      for (const { channel, problem } of channels) add(problem === undefined, channel)
    },
  },
  {
    name: 'tickwarden_notifications_waiting',
    type: 'gauge',
    help: 'Notifications that wait to be sent, by channel.',
    labels: ['channel'],
    read(channels, add) {
      for (const { channel, waiting } of channels) add(waiting, channel)
    },
  },
]
