import type { Clock } from '../../clock.ts'
import type { Fleet } from '../../game/fleet.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import type { Watcher } from '../../game/watcher/index.ts'
import { createBatchQueue } from '../batch-queue.ts'
import type { IconStore } from '../icon-store.ts'
import { createSnapshotCodec } from '../snapshot-codec.ts'
import type { PrimaryMessage } from './messages.ts'

/** Sends the snapshots of all servers to one worker. */
export interface Feed {
  /** @param text the encoded snapshot */
  add(snapshot: ServerSnapshot, text: string): void
  /** Sends the newest snapshot of a server again, with its icon, which the worker no longer has. */
  repeat(server: string): void
  close(): void
}

type Send = (message: PrimaryMessage, onSent: () => void) => void

function createFeed(send: Send, icons: IconStore): Omit<Feed, 'repeat'> & { forgetIcon(hash: string): void } {
  /** Hashes of sent icons. */
  const sentIcons = new Set<string>()
  let isClosed = false

  const queue = createBatchQueue<{ readonly text: string; readonly icon: Buffer | undefined }>((batch) => {
    if (isClosed) return Promise.resolve()
    const newIcons = new Map<string, Buffer>()
    for (const [, { icon }] of batch) {
      const hash = icon && icons.hashOf(icon)
      if (icon === undefined || hash === undefined || sentIcons.has(hash)) continue
      sentIcons.add(hash)
      newIcons.set(hash, icon)
    }
    const texts = batch.map(([, { text }]) => text)
    return new Promise((resolve) => send({ type: 'snapshots', texts, icons: [...newIcons] }, resolve))
  })

  return {
    add: ({ server, fields }, text) => queue.set(server, { text, icon: fields.favicon?.value }),
    forgetIcon: (hash) => void sentIcons.delete(hash),
    close() {
      isClosed = true
      queue.clear()
    },
  }
}

export interface FeedsOptions {
  readonly fleet: Fleet
  readonly icons: IconStore
  readonly clock: Clock
  /** Milliseconds after which a worker treats a server without new snapshots as unknown. */
  readonly staleAfter: number
}

/** Sends the snapshots of a fleet to all workers; each is encoded once. */
export interface Feeds {
  /** Opens the feed of one worker, starting with the newest snapshot of every server. */
  open(send: Send): Feed
  close(): void
}

export function createFeeds({ fleet, icons, clock, staleAfter }: FeedsOptions): Feeds {
  const codec = createSnapshotCodec(icons)
  const feeds = new Set<Feed>()
  const sentAt = new Map<string, number>()

  function publish(snapshot: ServerSnapshot): void {
    const now = clock.now()
    sentAt.set(snapshot.server, now)
    if (feeds.size === 0) return
    const text = codec.encode(snapshot, now)
    for (const feed of feeds) feed.add(snapshot, text)
  }

  /** Sends unchanged snapshots too: silence would mean that the server is not polled. */
  function sweep(): void {
    const now = clock.now()
    for (const watcher of fleet.watchers) {
      if (now - (sentAt.get(watcher.server) ?? Number.NEGATIVE_INFINITY) > staleAfter / 2) publish(watcher.snapshot())
    }
    cancel = clock.after(Math.min(1_000, staleAfter / 4), sweep)
  }

  let cancel = () => {}
  const unsubscribe = fleet.subscribe(publish)
  const unfollow = fleet.onChange(({ changed, removed }) => {
    for (const server of removed) sentAt.delete(server)
    // Replaces a snapshot that has not been sent yet, which may be of another address.
    for (const watcher of changed.map(fleet.get)) if (watcher !== undefined) publish(watcher.snapshot())
  })
  sweep()
  return {
    open(send) {
      const { forgetIcon, ...queue } = createFeed(send, icons)
      function addNewest(watcher: Pick<Watcher, 'snapshot'>): void {
        const snapshot = watcher.snapshot()
        queue.add(snapshot, codec.encode(snapshot, clock.now()))
      }
      const feed: Feed = {
        ...queue,
        repeat(server) {
          const watcher = fleet.get(server)
          const icon = watcher?.snapshot().fields.favicon?.value
          if (icon !== undefined) forgetIcon(icons.hashOf(icon))
          if (watcher !== undefined) addNewest(watcher)
        },
        close() {
          feeds.delete(feed)
          queue.close()
        },
      }
      feeds.add(feed)
      for (const watcher of fleet.watchers) addNewest(watcher)
      return feed
    },
    close() {
      cancel()
      unsubscribe()
      unfollow()
      for (const feed of feeds) feed.close()
    },
  }
}
