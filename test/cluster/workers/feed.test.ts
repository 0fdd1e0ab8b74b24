import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createIconStore } from '../../../src/cluster/icon-store.ts'
import { createFeeds } from '../../../src/cluster/workers/feed.ts'
import { fakeFleet, testPoll } from '../../helpers/fake-fleet.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

it('does not send the old state of a server whose settings have changed', async () => {
  const clock = manualClock()
  const fleet = fakeFleet({ survival: { status: { playersOnline: 1 } } }, clock)
  const feeds = createFeeds({ fleet, icons: createIconStore(), clock, staleAfter: testPoll.staleAfter })
  onTestFinished(() => {
    feeds.close()
    fleet.close()
  })
  const sent: string[] = []
  feeds.open((message, onSent) => {
    if (message.type === 'snapshots') sent.push(...message.texts)
    onSent()
  })
  await setImmediate()
  sent.length = 0
  // This snapshot waits to be sent.
  await fleet.pollAll()
  fleet.update([{ name: 'survival', group: 'Games', sources: {} }])
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  expect(sent.map((text) => JSON.parse(text).up)).toEqual([undefined])
})
