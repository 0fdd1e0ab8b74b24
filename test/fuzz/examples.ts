// Valid ones, of formats that several readers read.
import { schemaVersion } from '../../src/cluster/keys.ts'

export const uuid = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
export const nest = {
  text: 'a',
  color: 'red',
  extra: [{ translate: '%s of %2$s', with: ['b', { text: 'c', bold: true }] }, 1, true],
}
export const status = {
  version: { name: 'Paper 1.21.4', protocol: 769 },
  players: {
    max: 20,
    online: 2,
    sample: [
      { name: 'Notch', id: uuid },
      { name: 'b', id: uuid.replaceAll('-', '') },
    ],
  },
  description: nest,
  favicon: 'data:image/png;base64,iVBORw0KGgo=',
  enforcesSecureChat: true,
  previewsChat: false,
  modinfo: { type: 'FML', modList: [{ modid: 'minecraft', version: '1.12.2' }] },
  forgeData: { mods: [{ modId: 'forge', modmarker: '47.4.0' }], fmlNetworkVersion: 3, channels: [], truncated: true, d: 'ab' },
}
export const bulk = [
  { status: 200, value: { averageTickTime: 5, tickTimes: [50_000_000, 0, 20_000_000] } },
  {
    status: 200,
    value: {
      'java.lang:name=G1 Old Gen,type=MemoryPool': { Usage: { used: 1, max: -1 } },
      'java.lang:name="a,b"': { Usage: {} },
    },
  },
  { status: 200, value: { 'java.lang:name=G1,type=GarbageCollector': { CollectionCount: 3, CollectionTime: 40 } } },
  { status: 200, value: { ThreadCount: 50 } },
]
export const snapshot = {
  version: schemaVersion,
  server: 'a',
  age: 12,
  sources: [
    {
      source: 'status',
      target: 'a:1',
      state: 'ok',
      duration: 0.1,
      lastSuccess: 1,
      lastError: { code: 'timeout', message: 'a', at: 1 },
    },
  ],
  polls: { ok: 3, timeout: 1 },
  up: true,
  pollDuration: 0.1,
  lastContact: [1, 2],
  knownForMs: 5,
  mainThread: { responsive: true, delay: 1 },
  fields: {
    motd: ['a', 'status'],
    players: [{ players: [{ name: 'a', id: uuid }], complete: true }, 'rcon'],
    playersOnline: [1, 'status'],
    tickCount: [{ ticks: 1, age: 2 }, 'rcon'],
    favicon: ['a'.repeat(40), 'status'],
  },
}
export const fullStat = Buffer.from(
  `\0\0\0\0\x01splitnum\0\x80\0hostname\0§aA\0gametype\0SMP\0game_id\0MINECRAFT\0version\x001.21.11\0plugins\0Paper: A 1; B\0map\0world\0numplayers\x001\0maxplayers\x0020\0hostport\x0025565\0hostip\x00127.0.0.1\0\0\x01player_\0\0Notch\0\0`,
  'latin1',
)
export const basicStat = Buffer.from('\0\0\0\0\x01A\0SMP\0world\x001\x0020\0\xdd\x63127.0.0.1\0', 'latin1')
const table = `|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming
|--|--|--|--|--|--|--
|1st (Sun)|6 pm|[A](/1)|**B**|Single|[T](/1)|[S](https://open.spotify.com/a)
|2nd|18:00|C &amp; D|E|Album| |
`
export const wikiPage = `# Releases

${table}
# OSTs

${table}`
