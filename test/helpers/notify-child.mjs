// Tells a webhook one number after another, as built, until it is killed: `node notify-child.mjs <folder> <url> <last number>`.

import { webhook } from '../../dist/src/notify/channels/webhook.js'
import { createNotification } from '../../dist/src/notify/notification.js'
import { FileOutbox } from '../../dist/src/notify/outbox.js'
import { createChannelClient, Sender } from '../../dist/src/notify/sender.js'

const [folder, url, last] = [process.argv[2], process.argv[3], Number(process.argv[4])]
const clock = { now: () => performance.now(), wall: Date.now, after: (ms, action) => void setTimeout(action, ms) }
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const outbox = await FileOutbox.open({ folder, channel: 'ops', log, clock })
const settings = { name: 'ops', type: webhook, values: { url } }
const sender = new Sender({ settings, outbox, client: createChannelClient(true), allowPrivate: true, clock, log })
sender.wake()
let told = await outbox.told('survival')
for (let number = (told?.record ?? 0) + 1; number <= last; number++) {
  const values = { event: 'record', at: number, server: 'survival', group: null, error: null, duration: null, state: null }
  const next = { record: number }
  await outbox.commit('survival', told, next, [createNotification({ record: String(number) }, values, Date.now())])
  told = next
  sender.wake()
  // wait: until some are sent, which nothing tells.
  while (outbox.length > 5) await new Promise((resolve) => setTimeout(resolve, 1))
}
