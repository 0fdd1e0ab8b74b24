import type { Players } from '../http/players.ts'
import type { Static } from '../util/schema.ts'
import type { FullInformation, Metadata, Sources } from './schemas.ts'

// Examples of replies, for the API description.

export const playersExample: Static<typeof Players> = [
  { ID: '069a79f4-44e9-4726-a5be-fca90e38aaf5', NAME: 'Alice' },
  { ID: '', NAME: 'Bob' },
]

export const metadataExample: Static<typeof Metadata> = {
  DESCRIPTION: 'A Minecraft Server',
  PLAYERS: { MAX: 20, ONLINE: 2, PLAYERS: playersExample },
  VERSION: { version: '1.21.11', protocol: 774 },
  FAVICON: '/api/v1/favicon',
  SECURE_CHAT_ENFORCED: true,
}

export const fullInformationExample: Static<typeof FullInformation> = {
  SERVER_IP: '203.0.113.7',
  SERVER_PORT: 25565,
  SERVER_NAME: 'survival',
  DEFAULT_GAME_MODE: 'SURVIVAL',
  LOADER_VERSION: '',
  METADATA: metadataExample,
  TICKS: 123456,
  TICK_TIME: 12.3,
  TIME_REFERENCE: 98765432,
}

export const sourcesExample: Static<typeof Sources> = {
  server: 'survival',
  state: 'up',
  asleep: null,
  mainThread: { responsive: true, delay: 0.031 },
  worldUpgrade: null,
  proxy: null,
  sources: [
    {
      source: 'status',
      configured: true,
      target: 'mc.example.org:25565',
      state: 'ok',
      lastError: null,
      lastSuccess: '2026-01-15T03:00:12.000Z',
      duration: 0.0042,
      resting: [],
    },
  ],
  fields: {
    playersOnline: { source: 'status', setting: null },
    tickRate: { source: null, setting: 'set enable-rcon=true and MC_RCON_PASSWORD to see the tick rate' },
  },
  discovery: [
    {
      provider: 'config',
      list: 'tickwarden.yaml',
      state: 'ok',
      servers: 2,
      refused: 0,
      problems: [],
      lastSuccess: '2026-01-15T03:00:00.000Z',
    },
  ],
}
