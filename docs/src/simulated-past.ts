import { join } from 'node:path'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { takeBatch } from '../../src/history/recording/batch-writer.ts'
import { RecordedServer } from '../../src/history/recording/recorded-server.ts'
import { fileName } from '../../src/history/store/open-store.ts'
import { HistoryStore } from '../../src/history/store/store.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long ago, and how often from then on: fine enough for the resolution that the history keeps of each age. */
const stages = [
  { ago: 90 * day, step: 30 * minute },
  { ago: 7 * day, step: 10 * minute },
  { ago: day, step: minute },
  { ago: hour, step: 10_000 },
] as const

export interface SimulatedServer {
  readonly name: string
  /** Number of players on an ordinary evening. */
  readonly players: number
  readonly tickTimeMs: number
  readonly tickRate: number
  /** Hours before now at which it was down for an hour. */
  readonly outages: readonly number[]
}

/** Between 0 and 1, always the same for the same time. */
const noise = (time: number): number => Math.abs(Math.sin(time / 7_919_000) * 43_758.5453) % 1

function snapshotOf({ name, players, tickTimeMs, tickRate, outages }: SimulatedServer, at: number, now: number): ServerSnapshot {
  const age = now - at
  const up = !outages.some((hours) => age <= hours * hour && age > (hours - 1) * hour)
  // Most players are online in the evening.
  const evening = 0.55 - 0.45 * Math.cos(((at % day) / day) * 2 * Math.PI - 1)
  const online = Math.round(players * evening * (0.8 + 0.4 * noise(at)))
  const load = (0.7 + (0.3 * online) / Math.max(1, players)) * (0.95 + 0.1 * noise(at + 1))
  const field = <T>(value: T) => ({ value, source: 'status' as const, at })
  const fields = {
    playersOnline: field(online),
    latency: field(0.012 + 0.006 * noise(at + 2)),
    tickRate: field(Math.min(20, tickRate * (0.995 + 0.01 * noise(at + 3)))),
    tickDurationMean: field((tickTimeMs * load) / 1_000),
    tickDurationP99: field((tickTimeMs * load * (1.5 + noise(at + 4))) / 1_000),
  }
  return { server: name, at, up, fields: up ? fields : {}, sources: [], polls: {}, ...(up && { lastContact: { at, wall: at } }) }
}

/** Writes 90 days of history up to `now`, for pictures that show more than a demo of some minutes. */
export function writeSimulatedPast(folder: string, servers: readonly SimulatedServer[], now: number): void {
  const store = new HistoryStore({ path: join(folder, fileName) })
  for (const server of servers) {
    let at = now - stages[0].ago
    const clock = { now: () => at, wall: () => at, after: () => () => {} }
    const [stored] = store.servers([server.name])
    if (stored === undefined) continue
    const recorded = new RecordedServer(stored, clock)
    for (const [index, { step }] of stages.entries()) {
      const end = now - (stages[index + 1]?.ago ?? 0)
      for (; at < end; at += step) recorded.observe(snapshotOf(server, at, now), undefined, at)
    }
    const batch = takeBatch([recorded], now)
    if (batch) store.write(batch)
  }
  store.close()
}
