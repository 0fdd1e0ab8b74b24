import type { Script } from './fake-fleet.ts'

/** A server with a value for every field of the status API. */
export const exampleServer: Script = {
  status: {
    version: '1.21.11',
    protocol: 774,
    motd: 'Two "lines"\nof \\ text',
    playersOnline: 3,
    playersMax: 20,
    players: { complete: false, players: [{ name: 'Sampled' }] },
    secureChatEnforced: true,
    ip: '192.0.2.7',
    port: 25570,
  },
  rcon: {
    players: {
      complete: true,
      players: [
        { name: 'bob', id: '00000000-0000-4000-8000-00000000000b' },
        { name: 'Zoë' },
        { name: 'Alice', id: '00000000-0000-4000-8000-00000000000a' },
      ],
    },
    tickCount: { ticks: 123_456, at: 999.6 },
    tickDurationMean: 0.012_345_678_9,
  },
  directory: { defaultGameMode: 'ADVENTURE', loader: 'Fabric', loaderVersion: '0.18.4' },
}

/** A server that answers without values. */
export const silentServer: Script = { status: {} }
