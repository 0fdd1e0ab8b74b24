import type { Clock } from '../../clock.ts'
import type { DiscoveryView } from '../../discovery/status.ts'
import type { Fleet } from '../../game/fleet.ts'
import type { Log } from '../../log.ts'
import { createIconStore } from '../icon-store.ts'
import type { SharedWatchers } from '../shared-watchers.ts'
import { createSnapshotCodec } from '../snapshot-codec.ts'
import type { PrimaryMessage, WorkerMessage } from './messages.ts'
import { createSilenceDetector, type PrimaryState } from './silence.ts'

export type StartMessage = Extract<PrimaryMessage, { readonly type: 'start' }>

/** The connection of a worker to the primary process. */
export interface Link {
  /** The message with configuration and servers. */
  readonly started: Promise<StartMessage>
  /** The lists that the servers come from, once started; undefined if the demo server is watched. */
  readonly discovery: DiscoveryView | undefined
  readonly primary: PrimaryState
  send(message: WorkerMessage): void
  /** Requests the recorded history of a server from the primary process. */
  loadHistory(server: string): Promise<Buffer | undefined>
  /** Applies messages with servers and snapshots to the fleet, including those received before. @returns a function that stops it */
  follow(fleet: Fleet, watchers: SharedWatchers, log: Log): () => void
}

/** Unused icons are removed if there are more than this many per server. */
const maxIconsPerServer = 2
const sweepMs = 1_000

/** @param clock comparable with that of the primary process: see sharedClock */
export function createLink(clock: Clock): Link {
  const icons = createIconStore()
  let reportInvalid = (_reason: string) => {}
  const codec = createSnapshotCodec(icons, (server, part) => reportInvalid(`${server}: ${part}`))
  const waiting: PrimaryMessage[] = []
  const histories = new Map<string, (image: Buffer | undefined) => void>()
  let handle: (message: PrimaryMessage) => void = (message) => waiting.push(message)
  let iconCount = 0
  let lists: StartMessage['lists']
  let version = 0
  let report: (isResponsive: boolean) => void = () => {}
  const primary = createSilenceDetector(clock, (isResponsive) => report(isResponsive))
  const discovery: DiscoveryView = {
    status: () => lists ?? [],
    get version() {
      return version
    },
  }

  const send = (message: WorkerMessage): void => {
    if (process.connected) process.send?.(message)
  }
  const started = new Promise<StartMessage>((resolve) => {
    process.on('message', (message: PrimaryMessage) => {
      primary.heard()
      if (message.type === 'start' || message.type === 'lists') {
        lists = message.lists
        version++
      }
      if (message.type === 'start') resolve(message)
      else if (message.type === 'history') {
        histories.get(message.server)?.(message.image)
        histories.delete(message.server)
      } else handle(message)
    })
  })
  send({ type: 'ready' })

  return {
    started,
    get discovery() {
      return lists && discovery
    },
    primary,
    send,
    loadHistory(server) {
      return new Promise((resolve) => {
        histories.set(server, resolve)
        send({ type: 'history', server })
      })
    },
    follow(fleet, watchers, log) {
      report = (isResponsive) => {
        if (isResponsive) log.info('The primary process responds again.')
        else log.warn('The primary process does not respond: this worker answers from memory until the values are stale.')
      }
      reportInvalid = (part) => {
        log.error(`the primary process sent a value that is not valid (${part})`)
        reportInvalid = () => {}
      }
      function take(text: string): void {
        const { snapshot, missingIcon } = codec.decode(text, clock.now(), (server) => watchers.get(server)?.snapshot())
        watchers.get(snapshot.server)?.receive(snapshot, 0)
        if (missingIcon !== undefined) send({ type: 'repeat', server: snapshot.server })
      }
      handle = (message) => {
        if (message.type === 'servers') fleet.update(message.servers)
        if (message.type !== 'snapshots') return
        for (const [hash, icon] of message.icons) icons.add(hash, icon)
        iconCount += message.icons.length
        for (const text of message.texts) {
          try {
            take(text)
          } catch (error) {
            log.error({ err: error }, 'a snapshot of the primary process is not valid')
          }
        }
        if (iconCount <= maxIconsPerServer * (fleet.servers.length + 50)) return
        iconCount = icons.keepOnly(fleet.watchers.map((watcher) => watcher.snapshot()))
      }
      for (const message of waiting.splice(0)) handle(message)
      let cancel = () => {}
      const sweep = () => {
        const now = clock.now()
        for (const watcher of watchers.all()) watcher.expire(now)
        cancel = clock.after(sweepMs, sweep)
      }
      sweep()
      return () => {
        cancel()
        primary.close()
      }
    },
  }
}
