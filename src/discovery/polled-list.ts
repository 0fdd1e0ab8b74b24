import { oneAtATime } from '../util/one-at-a-time.ts'
import { createLossCheck } from './lost-servers.ts'
import { DiscoveryError, type ParsedList, type ProviderContext, type ServerList } from './provider.ts'

/** Milliseconds before a retry after a failure; the interval if that is shorter. */
const retryMs = 10_000

export interface PolledListOptions extends Pick<ServerList, 'name' | 'place'>, Pick<ProviderContext, 'clock' | 'changed'> {
  /** Milliseconds from one reading to the next. */
  readonly interval: number
  /** Aborted when the provider is closed. */
  readonly signal: AbortSignal
  /** @throws DiscoveryError */
  readonly read: () => Promise<ParsedList>
}

/** A list that is read again after each interval; if that fails, its previous servers stay. */
export function createPolledList({ name, place, clock, changed, interval, signal, read }: PolledListOptions) {
  const checkLoss = createLossCheck()
  let current: ServerList = { name, place, servers: [], refused: [] }
  let cancel = () => {}

  async function readOnce(): Promise<void> {
    cancel()
    const before = current
    try {
      const parsed = await read()
      if (signal.aborted) return
      current = { name, place, ...checkLoss(before, parsed), readAt: clock.wall() }
    } catch (error) {
      if (signal.aborted) return
      const { name, message } = error as Error
      // Other messages may contain secrets.
      current = { ...before, error: error instanceof DiscoveryError ? message : `it cannot be read (${name})` }
    }
    cancel = clock.after(current.error === undefined ? interval : Math.min(interval, retryMs), () => void reload())
    changed()
  }

  const reload = oneAtATime(readOnce)
  signal.addEventListener('abort', () => cancel(), { once: true })
  return { list: () => current, firstRead: reload(), reload }
}

/** The members of a provider with such lists. */
export const providerOf = (lists: readonly ReturnType<typeof createPolledList>[]) => ({
  firstRead: Promise.all(lists.map(({ firstRead }) => firstRead)).then(() => {}),
  lists: () => lists.map(({ list }) => list()),
  reload: () => Promise.all(lists.map(({ reload }) => reload())).then(() => {}),
})
