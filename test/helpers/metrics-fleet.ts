import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import type { Script } from './scripted-fleet.ts'

export const status: Partial<Fields> = {
  edition: 'java',
  version: '1.21.11',
  protocol: 774,
  software: 'Paper',
  playersOnline: 2,
  playersMax: 20,
  latency: 0.0015,
  asleep: false,
  rawStatus: { version: 'Paper 1.21.11', playersOnline: 2, playersMax: 20 },
}

export const rcon: Partial<Fields> = {
  players: { complete: true, players: [{ name: 'Alice' }, { name: 'Bob' }] },
  tickCount: { ticks: 123_456, at: 1_000 },
  tickRate: 19.98,
  tickRateTarget: 20,
  tickDurationMean: 0.0123,
  tickDurationP50: 0.011,
  tickDurationP95: 0.019,
  tickDurationP99: 0.023,
  tickFrozen: false,
  tickSprinting: false,
  tickPaused: false,
  paperTickRates: { '5s': 19.8, '1m': 20, '5m': 19.9, '15m': 19.95 },
  dimensions: [
    { name: 'minecraft:overworld', tickDurationMean: 0.008, tickRate: 20 },
    { name: 'minecraft:the_nether', tickDurationMean: 0.0005, tickRate: 20 },
  ],
  worldDay: 42,
  worldTimeOfDay: 6_000,
}

export const directory: Partial<Fields> = { loader: 'Paper', overloadWarnings: 3, overloadSkippedTicks: 120 }

export const jmx: Partial<Fields> = {
  tickDurationMax: 0.031,
  jvmMemoryPools: [
    { name: 'G1 Old Gen', usedBytes: 1_073_741_824, maxBytes: 4_294_967_296 },
    { name: 'Metaspace', usedBytes: 83_886_080 },
  ],
  jvmGarbageCollectors: [{ name: 'G1 Young Generation', collections: 321, seconds: 4.56 }],
  jvmThreads: 87,
}

/** One server of each kind, including unusual ones; fixed, so that its exposition can be a golden file. */
export const fixedFleet = (): Script => ({
  survival: { status, rcon, jmx, directory },
  'lobby "EU" \\ Größe': {
    status: { edition: 'bedrock', version: '1.21.40', protocol: 748, playersOnline: 0, playersMax: 10, latency: 0.02 },
  },
  upgrading: { management: { worldUpgrade: { state: 'running', progress: 0.42 } } },
  down: { status: new SourceError('refused', 'down: refused'), directory },
  'half-blind': { status: { ...status, software: 'Fabric' }, rcon: new SourceError('auth', 'half-blind: wrong password') },
  odd: {
    status: { edition: 'java', version: `1.21\u0000"\\\n${'x'.repeat(500)}`, playersOnline: Number.NaN, latency: 1e-7 },
    rcon: {
      dimensions: [
        { name: 'twice', tickDurationMean: 0.001, tickRate: 20 },
        { name: 'twice', tickDurationMean: 0.002, tickRate: 10 },
      ],
    },
  },
})
