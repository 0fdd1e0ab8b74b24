// Readers that get their input over a connection, or from another part that is replaced here.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { IconStore } from '../../src/cluster/icon-store.ts'
import { createStateKeys } from '../../src/cluster/keys.ts'
import { ServerTime } from '../../src/cluster/server-time.ts'
import { SnapshotExchange } from '../../src/cluster/snapshot-exchange.ts'
import { StreamReader } from '../../src/cluster/stream-reader.ts'
import { recordManagement } from '../../src/commands/record/management.ts'
import { readRconRecording } from '../../src/commands/record/rcon.ts'
import { readStatusRecording } from '../../src/commands/record/status.ts'
import { recordQuery, recordRakNet } from '../../src/commands/record/udp.ts'
import { readServerValues } from '../../src/config/parse-servers.ts'
import { findLoss } from '../../src/data/scripts/kcomebacks/judge.ts'
import { readMonth } from '../../src/data/scripts/kcomebacks/month.ts'
import { openWiki } from '../../src/data/scripts/kcomebacks/wiki.ts'
import { openJournal } from '../../src/data/scripts/liked-songs/journal.ts'
import { callLastfm, classifyLastfm, readLovedSongs } from '../../src/data/scripts/liked-songs/lastfm.ts'
import { createSpotify } from '../../src/data/scripts/liked-songs/spotify.ts'
import { createGithub } from '../../src/data/scripts/projects/github.ts'
import { createUpstream } from '../../src/data/scripts/upstream.ts'
import { UpstreamError } from '../../src/data/scripts/upstream-error.ts'
import { SnapshotError } from '../../src/data/store/read-snapshot.ts'
import { urlOrigin } from '../../src/data/store/url-origin.ts'
import type { Provider } from '../../src/discovery/provider.ts'
import { bungeecord } from '../../src/discovery/providers/bungeecord.ts'
import { fileSd } from '../../src/discovery/providers/file-sd.ts'
import { httpSd } from '../../src/discovery/providers/http-sd.ts'
import { kubernetes } from '../../src/discovery/providers/kubernetes.ts'
import { mcRouter } from '../../src/discovery/providers/mc-router.ts'
import { SourceError } from '../../src/game/errors.ts'
import { systemNetwork } from '../../src/game/network.ts'
import { ProtocolError } from '../../src/game/protocol/error.ts'
import { encodeRconPacket } from '../../src/game/protocol/rcon/packets.ts'
import { encodeFrame, encodeString } from '../../src/game/protocol/status/frames.ts'
import { createLoaderReader } from '../../src/game/sources/directory/loader.ts'
import { createJmxSource } from '../../src/game/sources/jmx/index.ts'
import { ManagementSource } from '../../src/game/sources/management/management-source.ts'
import { createQuerySource } from '../../src/game/sources/query/index.ts'
import { RconSource } from '../../src/game/sources/rcon/rcon-source.ts'
import { type Source, type SourceContext, unmeasured } from '../../src/game/sources/source.ts'
import { StatusSource } from '../../src/game/sources/status/index.ts'
import { createNetherNetReader } from '../../src/game/sources/status/nethernet.ts'
import { Maintenance } from '../../src/maintenance/maintenance.ts'
import { type ChannelType, DeliveryError } from '../../src/notify/channels/channel.ts'
import { discord } from '../../src/notify/channels/discord.ts'
import { telegram } from '../../src/notify/channels/telegram.ts'
import { FileOutbox } from '../../src/notify/outbox.ts'
import { createChannelClient, createContext } from '../../src/notify/sender.ts'
import { SharedOutbox } from '../../src/notify/shared-outbox.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { pong } from '../helpers/bedrock-server.ts'
import * as examples from './examples.ts'
import { type Fuzzed, folder as filesFolder, fuzz, inFile, json, toBytes } from './fuzzed.ts'
import { httpPeer, tcpPeer, udpPeer, webSocketPeer } from './peers.ts'

const host = '127.0.0.1'
const context: SourceContext = { clock: systemClock, log: silentLog, random: () => 0.5, push: () => {} } as SourceContext
/** For how long a reader waits for more, milliseconds: after an example that is whole it never does, after most of the inputs it does. */
export const [wholeMs, notWholeMs] = [60_000, 20]
export const deadline = { ms: wholeMs }
/** What the timer of Node.js throws. */
const timeouts = [SourceError, DOMException]

/** Polls a source once. */
async function pollOnce(make: () => Source): Promise<unknown> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new SourceError('timeout', 'no whole reply')), deadline.ms)
  const source = make()
  try {
    return (await source.poll(ending.signal)).fields
  } finally {
    clearTimeout(timer)
    source.close()
  }
}

const empty = Buffer.alloc(0)
const sourceErrors: Pick<Fuzzed, 'throws' | 'isSlow'> = { throws: timeouts, isSlow: true }
const javaPeer = tcpPeer<Buffer>((input, request, number) => (number === 0 ? input : number === 1 ? request : undefined))
/** The session of a request, which the client compares. */
const withSession = (reply: Buffer, request: Buffer) =>
  Buffer.concat([reply.subarray(0, 1), request.subarray(3, 7), reply.subarray(5)])
/** The first of the replies is the challenge, the second the full stat. */
const queryPeer = udpPeer<readonly Buffer[]>(([first = empty, second = empty], request) =>
  withSession(request[2] === 9 ? first : second, request),
)
const bedrockPeer = udpPeer<Buffer>((input) => input)
/** A login, then the input for each command, as a packet with its id. */
const rconPeer = tcpPeer<string>((input, request, number) =>
  number === 0
    ? encodeRconPacket({ id: request.readInt32LE(4), type: 2, body: '' })
    : encodeRconPacket({ id: request.readInt32LE(4), type: 0, body: input.slice(0, 1_000) }, 4_096),
)
const managementPeer = webSocketPeer((input, request) => input.replace('"id":0', `"id":${JSON.parse(request).id}`))
const jmxPeer = httpPeer()
const netherNetPeer = httpPeer()

const challenge = Buffer.from('\t\0\0\0\x019513307\0')
const kick = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0xff, text.length >> 8, text.length & 0xff]), Buffer.from(text, 'utf16le').swap16()])
const statusFrame = encodeFrame(0, encodeString(JSON.stringify(examples.status)))
const rpc = (message: object): string => JSON.stringify({ jsonrpc: '2.0', id: 0, ...message })
const statusReply = rpc({
  result: { players: [{ name: 'a', id: examples.uuid }], started: true, version: { name: '1.21.9', protocol: 773 } },
})
const otherMessages = [
  rpc({ error: { code: -32601, message: 'a', data: 'b' } }),
  JSON.stringify([JSON.parse(rpc({ result: [{ name: 'a', id: examples.uuid }] }))]),
  JSON.stringify({ jsonrpc: '2.0', method: 'minecraft:notification/players/joined', params: [{ name: 'a', id: examples.uuid }] }),
  JSON.stringify({ jsonrpc: '2.0', method: 'minecraft:notification/server/status', params: { status: { started: true } } }),
]

const ofSources: Readonly<Record<string, Fuzzed>> = {
  'src/game/sources/status/index.ts StatusSource of Java': fuzz(
    [statusFrame, kick('§1\x00127\x001.6.4\0A\x002\x0020'), kick('A§2§20')],
    {
      ...sourceErrors,
      run: async (bytes: Buffer) => {
        const port = await javaPeer(bytes)
        return pollOnce(() => new StatusSource({ edition: 'java', host, port }, context))
      },
    },
  ),
  'src/game/sources/status/index.ts StatusSource of Bedrock': fuzz(
    [pong('MCPE;§aServer;924;1.21.130;2;10;1234;Level;Creative;1;19132;19133;')],
    {
      ...sourceErrors,
      run: async (bytes: Buffer) => {
        const port = await bedrockPeer(bytes)
        return pollOnce(() => new StatusSource({ edition: 'bedrock', host, port }, context))
      },
    },
  ),
  'src/game/sources/status/nethernet.ts createNetherNetReader': fuzz(
    json({ name: 'a', level: 'b', version: '1.26.51', protocol: '1000', players: 1, maxPlayers: 10, gameType: 0 }),
    {
      ...sourceErrors,
      run: async (body: string) => {
        const port = await netherNetPeer(body)
        return createNetherNetReader({ host, port }, systemNetwork)(AbortSignal.timeout(deadline.ms))
      },
    },
  ),
  'src/game/sources/query/index.ts createQuerySource': fuzz([[challenge, examples.fullStat]], {
    ...sourceErrors,
    run: async (replies: readonly unknown[]) => {
      const port = await queryPeer(replies.map(toBytes))
      return pollOnce(() => createQuerySource({ host, port }, context))
    },
  }),
  'src/game/sources/rcon/rcon-source.ts RconSource': fuzz(
    ['There are 2 of a max of 20 players online: a, b', '§6TPS from last 1m, 5m, 15m: §a*20.0, §a19.98, §a20.0\n'],
    {
      ...sourceErrors,
      run: async (reply: string) => {
        const port = await rconPeer(reply)
        return pollOnce(() => new RconSource({ address: { host, port }, password: 'a' }, context))
      },
    },
  ),
  'src/game/sources/management/management-source.ts ManagementSource': fuzz([statusReply], {
    ...sourceErrors,
    refused: otherMessages,
    run: async (message: string) => {
      const port = await managementPeer(message)
      return pollOnce(() => new ManagementSource({ url: `ws://${host}:${port}`, secret: 'a'.repeat(40) }, context))
    },
  }),
  'src/game/sources/jmx/index.ts createJmxSource': fuzz(json(examples.bulk), {
    ...sourceErrors,
    run: async (body: string) => {
      const port = await jmxPeer(body)
      return pollOnce(() => createJmxSource({ url: `http://${host}:${port}` }, context))
    },
  }),
  'src/game/sources/directory/loader.ts createLoaderReader': fuzz(
    json({ currentVersion: 'git-Paper-196 (MC: 1.20.1)' }, { currentVersion: '1.21.4-232-12d8fe0 (MC: 1.21.4)' }),
    { isSlow: true, run: (text: string) => createLoaderReader(join(inFile('version_history.json', text), '..'), unmeasured)() },
  ),
}

const asIs = (text: string): string => text
const received = (bytes: Buffer) => [{ sent: [], received: [bytes] }]
const ofRecordings: Readonly<Record<string, Fuzzed>> = {
  'src/commands/record/status.ts readStatusRecording': fuzz([statusFrame, kick('§1\x00127\x001.6.4\0A\x002\x0020')], {
    throws: [ProtocolError, SyntaxError],
    run: (bytes: Buffer) => readStatusRecording(received(bytes)).anonymise(asIs),
  }),
  'src/commands/record/rcon.ts readRconRecording': fuzz([encodeRconPacket({ id: 1, type: 0, body: 'There are 0 of 20' })], {
    throws: [ProtocolError, SourceError],
    run: (bytes: Buffer) => readRconRecording(received(bytes)).anonymise(asIs),
  }),
  'src/commands/record/udp.ts recordQuery': fuzz([[challenge, examples.fullStat]], {
    ...sourceErrors,
    run: async (replies: readonly unknown[]) => {
      const port = await queryPeer(replies.map(toBytes))
      return (await recordQuery({ host, port }, AbortSignal.timeout(deadline.ms))).anonymise(asIs)
    },
  }),
  'src/commands/record/udp.ts recordRakNet': fuzz([pong('MCPE;§aServer;924;1.21.130;2;10;1234;Level;Creative;1;19132;19133;')], {
    ...sourceErrors,
    run: async (bytes: Buffer) => {
      const port = await bedrockPeer(bytes)
      return (await recordRakNet({ host, port }, AbortSignal.timeout(deadline.ms))).anonymise(asIs)
    },
  }),
  'src/commands/record/management.ts recordManagement': fuzz([statusReply], {
    ...sourceErrors,
    refused: otherMessages,
    run: async (message: string) => {
      const port = await managementPeer(message)
      const settings = { url: `ws://${host}:${port}`, secret: 'a' }
      return (await recordManagement(settings, AbortSignal.timeout(deadline.ms))).anonymise(asIs)
    },
  }),
}

const providerContext = {
  ...{ clock: systemClock, changed: () => {}, readServer: readServerValues },
  measure: (_place: string, read: () => unknown) => read(),
}
async function listsOf(provider: Provider): Promise<unknown> {
  await provider.firstRead
  const lists = provider.lists()
  provider.close()
  return lists.map(({ servers, refused, error }) => [servers.length, refused, error])
}
const account = join(filesFolder, 'account')
mkdirSync(account)
for (const name of ['token', 'ca.crt', 'namespace']) inFile(join('account', name), 'a')
const discoveryPeer = httpPeer()
/** A list has one page more at most. */
const servicesPeer = httpPeer(200, (input, url) => (url.includes('continue=') ? '{"items":[]}' : input))
const groups = [{ targets: ['a:1', 'bedrock://b'], labels: { name: 'n', group: 'g', __tickwarden_rcon_password: 'p' } }]
const services = {
  metadata: { continue: '' },
  items: [
    {
      metadata: { name: 'a', namespace: 'b', annotations: { 'tickwarden/name': 'c', 'tickwarden/rcon.address': 'd:1' } },
      spec: {
        ports: [
          { name: 'minecraft', port: 25565, protocol: 'TCP' },
          { port: 19132, protocol: 'UDP' },
        ],
      },
    },
  ],
}
const ofDiscovery: Readonly<Record<string, Fuzzed>> = {
  'src/discovery/providers/bungeecord.ts bungeecord': fuzz(['servers:\n  lobby:\n    address: a:1\n    restricted: false\n'], {
    isSlow: true,
    run: (text: string) =>
      listsOf(bungeecord.start({ discoveryBungeecord: inFile('bungee.yml', text) } as never, providerContext as never)),
  }),
  'src/discovery/providers/mc-router.ts mcRouter': fuzz(json({ 'default-server': 'b:1', mappings: { 'a.test': 'a:1' } }), {
    isSlow: true,
    run: (text: string) =>
      listsOf(mcRouter.start({ discoveryMcRouter: inFile('routes.json', text) } as never, providerContext as never)),
  }),
  'src/discovery/providers/file-sd.ts fileSd': fuzz(['- targets: [a:1]\n  labels: { shard: 1, name: &n n }\n- targets: [*n]\n'], {
    isSlow: true,
    run: (text: string) =>
      listsOf(fileSd.start({ discoveryFileSd: [inFile('targets.yml', text)] } as never, providerContext as never)),
  }),
  'src/discovery/providers/http-sd.ts httpSd': fuzz(json(groups), {
    isSlow: true,
    run: async (body: string) => {
      const url = `http://${host}:${await discoveryPeer(body)}/`
      const values = { discoveryHttpSd: [url], discoveryHttpSdInterval: 60_000 }
      return listsOf(httpSd.start(values as never, providerContext as never))
    },
  }),
  'src/discovery/providers/kubernetes.ts kubernetes': fuzz(json(services), {
    isSlow: true,
    run: async (body: string) => {
      const values = {
        ...{ discoveryKubernetes: 'a=b', discoveryKubernetesInterval: 60_000, discoveryKubernetesAccount: account },
        discoveryKubernetesUrl: `http://${host}:${await servicesPeer(body)}`,
      }
      return listsOf(kubernetes.start(values as never, providerContext as never))
    },
  }),
}

const upstreamPeer = httpPeer()
const upstreamErrors = { throws: [UpstreamError], isSlow: true } as const
const withUpstream =
  (run: (context: { readonly signal: AbortSignal } & Record<string, unknown>, baseUrl: string) => Promise<unknown>) =>
  async (body: string) => {
    const closing = new AbortController()
    try {
      return await run(
        { signal: closing.signal, clock: systemClock, log: silentLog },
        `http://${host}:${await upstreamPeer(body)}`,
      )
    } finally {
      closing.abort()
    }
  }
const lastfmKeys = { apiKey: 'a', apiSecret: 'b', sessionKey: 'c' }
const spotifyKeys = { clientId: 'a', clientSecret: 'b', refreshToken: 'c' }
const noCache = { get: () => undefined, set: () => noCache } as never
const liked = {
  total: 2,
  items: [
    { added_at: '2026-01-01T00:00:00Z', track: { id: 'a', uri: 'b', name: 'c', artists: [{ name: 'd' }], is_local: false } },
    { added_at: '2026-01-02T00:00:00Z', track: null },
  ],
  access_token: 'a',
  refresh_token: 'b',
}
const ofUpstreams: Readonly<Record<string, Fuzzed>> = {
  'src/data/scripts/liked-songs/spotify.ts createSpotify': fuzz(json(liked), {
    ...upstreamErrors,
    run: withUpstream(async (run, baseUrl) => {
      const upstream = createUpstream(run as never, { name: 'Spotify', baseUrl, retries: 0 })
      return createSpotify(upstream, upstream, spotifyKeys).likedSongs(0)
    }),
  }),
  'src/data/scripts/liked-songs/lastfm.ts callLastfm': fuzz(json({}, { status: 'ok' }), {
    ...upstreamErrors,
    refused: json({ error: '9', message: 'a' }, { lfm: { status: 'failed', error: { code: 6, '#text': 'a' } } }),
    run: withUpstream(async (run, baseUrl) => {
      const upstream = createUpstream(run as never, {
        name: 'Last.fm',
        baseUrl,
        retries: 0,
        maxWait: 0,
        classify: classifyLastfm,
      })
      return callLastfm(upstream, 'track.love', { artist: 'a', track: 'b' }, lastfmKeys)
    }),
  }),
  'src/data/scripts/liked-songs/lastfm.ts readLovedSongs': fuzz(
    json({
      user: { name: 'a' },
      lovedtracks: { track: [{ name: 'a', artist: { name: 'b' } }], '@attr': { totalPages: '1' } },
    }),
    {
      ...upstreamErrors,
      run: withUpstream(async (run, baseUrl) => {
        const upstream = createUpstream(run as never, { name: 'Last.fm', baseUrl, retries: 0 })
        let requests = 0
        // Every page says how many there are.
        const request: typeof upstream.request = async (given) => {
          if (++requests > 3) throw new UpstreamError('status', 'enough pages')
          return upstream.request(given)
        }
        return [...(await readLovedSongs({ ...upstream, request }, lastfmKeys))]
      }),
    },
  ),
  'src/data/scripts/projects/github.ts createGithub': fuzz(
    json({ default_branch: 'main', TypeScript: 12, tag_name: 'v1.2', pushed_at: '2026-01-01T00:00:00Z', message: 'a' }),
    {
      ...upstreamErrors,
      run: withUpstream(async (run, baseUrl) =>
        createGithub({ ...run, values: { githubApiUrl: baseUrl }, full: true } as never, noCache).repository('a/b'),
      ),
    },
  ),
  'src/data/scripts/kcomebacks/wiki.ts openWiki': fuzz(
    json({ access_token: 'a', data: { content_md: '|Day|', revision_id: 'b', revision_date: 1 } }),
    {
      ...upstreamErrors,
      run: withUpstream(async (run, baseUrl) => {
        const values = { redditAuthUrl: baseUrl, redditApiUrl: baseUrl, redditClientId: 'a', redditClientSecret: 'b' }
        return openWiki({ ...run, values } as never).read('a')
      }),
    },
  ),
  'src/data/store/url-origin.ts urlOrigin': fuzz(['{"etag":"a"}\n[{"last_update":"a"}]', '[]'], {
    throws: [SnapshotError],
    isSlow: true,
    run: async (text: string) => {
      const url = `http://${host}:${await upstreamPeer(text)}/`
      const options = { database: 'a', url, interval: 60_000, cacheDir: filesFolder, log: silentLog }
      const origin = urlOrigin(options as never)
      try {
        const read = await origin.read(undefined)
        // What another program has put where a copy was.
        await origin.keep?.({ text, version: text.slice(0, 8) } as never)
        return [read, await origin.restore?.()]
      } finally {
        await origin.close?.()
      }
    },
  }),
  'src/data/scripts/liked-songs/journal.ts openJournal': fuzz(
    [
      [
        '{"account":"a"}',
        '{"id":"b","title":"c","artist":"d"}',
        '{"id":"e","title":"f","artist":"g","reason":"h","failures":2,"tried":1}',
        '{"state":{"retryAt":0,"isIncomplete":true}}',
        '{"id":"i","title":"j","artist":"k","error":6}',
      ].join('\n'),
    ],
    {
      isSlow: true,
      run: async (text: string) => {
        const { ids, failed, state } = await openJournal(inFile('likedsongs.jsonl', text), 'a')
        return [[...ids], [...failed], state]
      },
    },
  ),
}

const keys = createStateKeys('a')
const snapshotText = `5 "s"\t${JSON.stringify(examples.snapshot)}`
/** Redis stores texts only: what a change has put in place of one becomes its JSON. */
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : String(JSON.stringify(value)))

const fieldsOf = (record: unknown): readonly string[] =>
  Object.entries(record ?? {}).flatMap(([name, value]) => [name, stringOf(value)])

/** A connection to Redis whose replies are the input: one entry of the stream, and the same text as a stored snapshot. */
async function receive(entry: object): Promise<unknown> {
  const fields = fieldsOf(entry)
  const snapshots: unknown[] = []
  let finish = () => {}
  const isRead = new Promise<void>((resolve) => {
    finish = resolve
  })
  let reads = 0
  const stored = stringOf((entry as { stored?: unknown }).stored)
  const pipeline = {
    mget: () => pipeline,
    time: () => pipeline,
    hget: () => pipeline,
    exec: async () => [
      [null, [stored]],
      [null, ['1', '2']],
      [null, '5'],
    ],
  }
  const redis = {
    ...{
      hget: async () => '5',
      time: async () => ['1', '2'],
      mgetBuffer: async () => [Buffer.from(stored)],
      pipeline: () => pipeline,
    },
    async xread() {
      if (reads++ > 0) {
        finish()
        return new Promise(() => {})
      }
      return [['stream', [[stringOf((entry as { id?: unknown }).id), fields]]]]
    },
  }
  const connection = {
    ...{ keys, isUp: true, isConnected: true, serverTime: new ServerTime() },
    run: async (_part: string, use: (given: typeof redis) => unknown) => use(redis),
  }
  const common = { connection: connection as never, clock: systemClock }
  const exchange = new SnapshotExchange({
    ...common,
    ...{
      membership: { name: 'own', epoch: 1 } as never,
      position: () => 0,
      icons: new IconStore(),
      lateMs: 1,
      expiryMs: 1,
      log: silentLog,
    },
    ...{ nameOf: (key) => key, onRejected: () => {}, onSnapshot: (_key, snapshot) => snapshots.push(snapshot) },
  })
  const reader = new StreamReader({
    ...common,
    ...{
      blockMs: 1,
      prepare: (texts) => exchange.readIcons(texts),
      onEntry: (given) => exchange.receive(given),
      onGap: () => {},
    },
  })
  reader.start()
  await exchange.load(['s'])
  await isRead
  reader.close()
  return snapshots
}

const notification = {
  ...{ id: 'a', at: 1, queuedAt: 1, event: 'down', text: null, server: 's', group: null, error: null, duration: 5 },
  state: { up: true, players: [{ ID: 'a', NAME: 'b' }], maintenance: { reason: 'a', until: 1 } },
}
const told = { down: 1, version: '1.21', toldAt: 2 }
const pausePeer = httpPeer(429)
const ofStored: Readonly<Record<string, Fuzzed>> = {
  'src/cluster/stream-reader.ts StreamReader': fuzz(
    [
      {
        ...{ id: '6-0', after: '5', epoch: '1', at: '1', member: 'other', kind: 'snapshots', data: '5', text: snapshotText },
        stored: `1 2 ${snapshotText}`,
      },
    ],
    { isSlow: true, run: (entry: unknown) => receive(Object(entry)) },
  ),
  'src/notify/outbox.ts FileOutbox': fuzz(json({ told: { s: told }, queue: [notification], value: '1' }), {
    isSlow: true,
    run: async (text: string) => {
      const folder = join(inFile('channel.json', text), '..')
      const outbox = await FileOutbox.open({ folder, channel: 'channel', log: silentLog, clock: systemClock })
      return [await outbox.told('s'), await outbox.oldest(10), await outbox.value()]
    },
  }),
  'src/notify/shared-outbox.ts SharedOutbox': fuzz(json(told, notification), {
    run: async (text: string) => {
      const queue = {
        ...{ value: async () => text, commit: async () => 0, remove: async () => {} },
        ...{ oldest: async () => [text], length: async () => 1 },
      }
      const lock = { lost: new AbortController().signal, isHeld: async () => true, release: async () => {} }
      const values = { all: async () => ({ channel: text }), put: async () => {} }
      const outbox = new SharedOutbox({ channel: 'channel', queue, values, takeLock: async () => lock, clock: systemClock })
      return [await outbox.told('s'), await outbox.oldest(10), await outbox.value()]
    },
  }),
  'src/notify/sender.ts createContext': fuzz<string>([], {
    refused: json({ retry_after: 1.5 }, { parameters: { retry_after: 3 } }),
    throws: [DeliveryError],
    isSlow: true,
    run: async (body: string) => {
      const client = createChannelClient(true)
      const url = new URL(`http://${host}:${await pausePeer(body)}/`)
      const send = (type: ChannelType) =>
        createContext({ type, client, allowPrivate: true, now: () => 0 }).request({ method: 'POST', url, body: '' })
      try {
        await Promise.allSettled([send(telegram)])
        await send(discord)
      } finally {
        await client.close()
      }
    },
  }),
  'src/maintenance/maintenance.ts Maintenance': fuzz(
    json(
      { id: 'a', kind: 'start', servers: ['s'], from: 1, to: 2, reason: 'b' },
      { id: 'b', kind: 'end', servers: ['*'], at: 1 },
    ),
    {
      run: async (text: string) => {
        const shared = { all: async () => ({ a: text }), put: async () => {} }
        const maintenance = await Maintenance.open({
          windows: [],
          groupOf: () => 'g',
          clock: systemClock,
          log: silentLog,
          shared,
        })
        const now = maintenance.of('s')
        await maintenance.close()
        return now
      },
    },
  ),
}

const silent = { log: silentLog, clock: systemClock }
const stored = Array.from(
  { length: 10 },
  (_, index) => ({ date: '2026-02-01', time: '18:00', artist: 'A', title: `B${index}`, types: [], links: [] }) as never,
)
const ofMonths: Readonly<Record<string, Fuzzed>> = {
  'src/data/scripts/kcomebacks/month.ts readMonth': fuzz([examples.wikiPage], {
    throws: [UpstreamError],
    run: async (markdown: string) => {
      const wiki = { read: async () => ({ markdown, revision: 'a' }) }
      const month = ['2026-02', 'a'] as const
      const now = await readMonth(wiki, month, undefined, silent as never)
      return now === 'unchanged' ? now : [now.entries, findLoss(now, stored, new Set(), new Set())?.isPlausible]
    },
  }),
}

export const peerReaders = { ...ofSources, ...ofRecordings, ...ofDiscovery, ...ofUpstreams, ...ofMonths, ...ofStored }
