// What fuzzing needs besides the cases of the growth test, which list the readers: valid examples, and the errors that they may throw.
import { dirname } from 'node:path'
import { parseStateAddress } from '../../src/cluster/address.ts'
import { EnvironmentError, FlagError, parseGoFlags } from '../../src/commands/mc-monitor/flags.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { readServerValues } from '../../src/config/parse-servers.ts'
import { readHistory } from '../../src/data/runs/history.ts'
import { SnapshotError } from '../../src/data/store/read-snapshot.ts'
import { DiscoveryError } from '../../src/discovery/provider.ts'
import { ProtocolError } from '../../src/game/protocol/error.ts'
import { decodeBulkReply } from '../../src/game/protocol/jolokia.ts'
import { eventName, eventParameter, parseSetting, parseWorldUpgrade, readingMethods } from '../../src/game/protocol/management.ts'
import { decodeChallenge, decodeFullStat, encodeFullStat } from '../../src/game/protocol/query.ts'
import { decodeChunk, encodeRconPacket, RconDecoder } from '../../src/game/protocol/rcon/packets.ts'
import { encodeFrame, encodeString, FrameReader, readVarInt } from '../../src/game/protocol/status/frames.ts'
import { decodePing } from '../../src/game/protocol/status/status.ts'
import { decodeUnconnectedPong } from '../../src/game/protocol/status/unconnected-ping.ts'
import { decodeProperties } from '../../src/game/sources/directory/server-properties.ts'
import { decodeOldFile } from '../../src/history/store/old-files.ts'
import { levels } from '../../src/history/values/levels.ts'
import { seriesNames } from '../../src/history/values/series.ts'
import { readRecords } from '../../src/maintenance/records.ts'
import { parseTimeOfDay } from '../../src/notify/quiet-hours.ts'
import { parseDuration } from '../../src/settings/kinds/number.ts'
import { RequestError } from '../../src/util/errors.ts'
import { escapeControls, escapeControlsInLines } from '../../src/util/escape-controls.ts'
import { pictureType } from '../../src/util/picture-type.ts'
import { createEventParser } from '../../src/web/client/event-parser.ts'
import { pong } from '../helpers/bedrock-server.ts'
import { cases, oldFrame, oldJoin, oldStart } from '../helpers/growth-cases.ts'
import { basicStat, bulk, fullStat, nest, snapshot, status, uuid, wikiPage } from './examples.ts'
import { type Fuzzed, fuzz, inFile, json, toBytes } from './fuzzed.ts'
import { peerReaders } from './peer-readers.ts'

const config = `listen: 0.0.0.0:8080
poll: { interval: 10s, timeout: 3s }
servers:
  - name: survival
    address: mc.example.org
    rcon: { address: "mc.example.org:25575", password: secret }
    group: a
  - { name: creative, address: "bedrock://10.0.0.2:19132" }
maintenance:
  - { servers: [survival], schedule: "0 4 * * *", timezone: Europe/Paris, duration: 30m, reason: backup }
  - { servers: [creative], from: 2026-12-01T20:00:00Z, to: 2026-12-01T22:00:00+01:00, name: x }
notify:
  laggingBelow: 0.8
  laggingFor: 2m
  publicUrl: https://status.example.org/
  quietHours: { from: "22:00", to: "07:00", timezone: Europe/Paris }
  channels:
    - { type: webhook, name: ops, url: "https://example.org/hook", secret: "0123456789abcdef", events: [down, up] }
    - { type: ntfy, name: phone, url: "https://ntfy.example.org/topic" }
databases:
  - name: books
    file: ./books.json
    order: [-read, title]
    visible: owned
    fields:
      title: { kind: text, required: true }
      tags: { kind: values }
      read: { kind: date, filter: true }
      owned: { kind: boolean, default: true }
      rating: { kind: number, default: 1 }
      link: { kind: link }
`
const oldImage = Buffer.concat([
  Buffer.from(Float64Array.of(1, 1, 1).buffer),
  // For each level one bucket with its first series, and for how long the last values were known.
  ...levels.flatMap(() => [
    Buffer.from(Uint32Array.of(1, 1).buffer),
    Buffer.of(1),
    Buffer.from(Float32Array.of(1, 1, 1).buffer),
    Buffer.from(Uint32Array.of(1).buffer),
    Buffer.from(new Float64Array(seriesNames.length).fill(1).buffer),
  ]),
  // A day and a quarter of an hour, then a session.
  Buffer.from(Uint32Array.of(1, 1, 1, 1, 0, 0, 0).buffer),
  Buffer.from(Uint32Array.of(1, 1, 1, 1, 0, 0, 0).buffer),
  Buffer.from(Uint32Array.of(1, 64).buffer),
  Buffer.alloc(64, 1),
])
/** By the name of a case, or of another reader with a `run` of its own. */
const fuzzed: Readonly<Record<string, Fuzzed>> = {
  ...peerReaders,
  'exporter/probe/target.ts createTargetFinder': fuzz(['mc.example.org:25565', 'bedrock://[::1]:19132', 'survival']),
  'src/cluster/snapshot-codec.ts createSnapshotCodec': fuzz(json(snapshot), { throws: [RangeError, SyntaxError] }),
  'src/cluster/address.ts parseStateAddress': fuzz(['redis://user:p%40ss@[::1]:6379/2', 'rediss://h'], {
    run: parseStateAddress,
  }),
  'src/commands/mc-monitor/flags.ts parseGoFlags': fuzz(
    [['-host', 'a', '--port=25565', '-timeout', '1h2m3.5s', '-servers', 'a:1,b', 'rest']],
    {
      throws: [FlagError, EnvironmentError],
      run: (args: readonly unknown[]) => {
        const { values, rest } = parseGoFlags(
          [
            { name: 'host', default: 'a', type: 'string', meaning: '' },
            { name: 'port', default: '1', type: 'int', meaning: '' },
            { name: 'timeout', default: '1s', type: 'duration', meaning: '' },
            { name: 'servers', default: '', type: 'list', meaning: '' },
          ] as never,
          args.map((argument) => JSON.stringify(argument)?.replace(/^"|"$/g, '') ?? ''),
          {},
        )
        return [values.number('port'), values.duration('timeout'), values.list('servers'), rest]
      },
    },
  ),
  'src/config/config.ts loadConfig': fuzz([config], {
    throws: [ConfigError],
    isSlow: true,
    run: (text: string) => void loadConfig({ env: {}, file: inFile('config.yml', text) }),
  }),
  'src/config/parse-servers.ts parseServerFile': fuzz(
    ['address: mc.example.org\n', '- { name: a, address: b, "rcon.password": c }\n'],
    {
      throws: [DiscoveryError],
      isSlow: true,
    },
  ),
  'src/config/server-file.ts readServerFile': { isSlow: true },
  'src/util/yaml.ts parseTree': fuzz([config, 'a: &x [1, 0x10, ~, |\n'], { isSlow: true }),
  'src/config/parse-servers.ts readServerValues': fuzz([{ address: 'a:1', name: 'b', group: 'c', 'rcon.password': 'd' }], {
    throws: [DiscoveryError],
    run: (values: object) =>
      readServerValues(
        new Map(Object.entries(values).map(([key, value]) => [key, JSON.stringify(value).replace(/^"|"$/g, '')])),
        'place',
      ),
  }),
  'src/discovery/target-groups.ts createTargetGroupReader': fuzz(
    [
      [
        {
          targets: ['a:1', 'bedrock://b'],
          labels: {
            name: 'n',
            group: 'g',
            __tickwarden_rcon_password: 'p',
            __meta_tickwarden_edition: 'java',
            __meta_tickwarden_host: 'h',
            __meta_tickwarden_port: '1',
          },
        },
      ],
    ],
    { throws: [DiscoveryError] },
  ),
  'src/discovery/target-groups.ts parseList': fuzz(json([{ targets: ['a:1'] }]), { throws: [DiscoveryError] }),
  'src/discovery/proxy-servers.ts readProxyFile': { isSlow: true },
  'src/util/escape-controls.ts escapeControls': fuzz(['a\u001b[31mb\r\n\u202e'], {
    run: (text: string) => [escapeControls(text), escapeControlsInLines(text)],
  }),
  'src/util/picture-type.ts pictureType': fuzz([Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1'), Buffer.from('GIF89a')], {
    run: pictureType,
  }),
  'src/util/json.ts parseJson': fuzz(json(status, [1, [2, [{}]]]), { throws: [SyntaxError] }),
  'src/util/json.ts parseJsonIfValid': fuzz(json(status, [1, [2, [{}]]])),
  'src/data/store/dates.ts parseDay': fuzz(['2026-11-23', '2024-02-29']),
  'src/data/store/dates.ts parseLastUpdate': fuzz(['2026-11-23 04:05:06 UTC']),
  'src/data/store/read-snapshot.ts loadSnapshot': fuzz(
    json([
      { last_update: '2026-01-01 00:00:00 UTC' },
      { date: '2026-1-TBA', time: '18:00', artist: 'A', title: 'B', types: ['album'], links: ['https://a.test'] },
    ]),
    { throws: [SnapshotError] },
  ),
  'src/data/scripts/projects/project-list.ts readProjectList': fuzz(
    json([{ title: 't', gh_api: 'a/b', categories: ['c'], links: { GH: 'https://a.test' }, visible: true }, { title: '' }]),
  ),
  'src/commands/record/anonymiser.ts createAnonymiser': fuzz([
    'a §bab a.b 192.0.2.1 2001:db8::1 [I; 1, -2, 3, 4] 069a79f444e94726a5befca90e38aaf5',
  ]),
  'src/data/scripts/kcomebacks/page.ts readMonthPage': fuzz([wikiPage]),
  'src/data/scripts/kcomebacks/tables.ts readTables': fuzz([wikiPage]),
  'src/data/scripts/kcomebacks/moment.ts readMoment': fuzz(['1st (Sun)', '31st', '6 pm KST', '12:00 am', '2nd?', '2026-02-03']),
  'src/data/scripts/rate-limit.ts readRateLimit': fuzz(['120', 'Mon, 23 Nov 2026 04:05:06 GMT', '0.5']),
  'src/data/scripts/kcomebacks/archive.ts readArchive': fuzz([
    '[a](/r/kpop/wiki/upcoming-releases/2024/february) - [b](/r/kpop/wiki/upcoming-releases/2023/may)',
  ]),
  'src/data/runs/history.ts readHistory': fuzz(
    json({
      runs: [
        {
          ...{ script: 'a', trigger: 'schedule', started: '2026-01-01T00:00:00Z', ended: '2026-01-01T00:00:01Z', duration: 1 },
          ...{ outcome: 'done', counts: { read: 1, added: 1, changed: 0, unchanged: 0, rejected: 0 }, errors: ['a'] },
        },
        { script: 'a', trigger: 'request', started: '2026-01-01T00:00:02Z' },
      ],
    }),
    { isSlow: true, run: (text: string) => readHistory(dirname(inFile('runs.json', text))) },
  ),
  'src/maintenance/records.ts readRecords': fuzz(
    json([
      { id: 'a', kind: 'start', servers: ['a'], from: 1, to: 2, reason: 'b' },
      { id: 'b', kind: 'end', servers: [], at: 1 },
    ]),
    { isSlow: true, throws: [SyntaxError], run: (text: string) => readRecords(dirname(inFile('maintenance.json', text))) },
  ),
  'src/notify/quiet-hours.ts parseTimeOfDay': fuzz(['22:00', '07:30'], { run: parseTimeOfDay }),
  'src/settings/kinds/number.ts parseDuration': fuzz(['10s', '500ms', '7d'], { run: parseDuration }),
  'src/game/protocol/text.ts createTextReader': fuzz([nest, '§aa§l', [nest, nest]]),
  'src/game/protocol/text.ts plainText': fuzz(['%s of %2$s%%']),
  'src/game/protocol/text-runs.ts parseTextRuns': fuzz(['§x§1§2§a§b§3§4a§lb§r\n§#12ab34c']),
  'src/game/protocol/jolokia.ts decodeBulkReply': fuzz(json(bulk), { throws: [ProtocolError], run: decodeBulkReply }),
  'src/game/protocol/management.ts parseSetting': fuzz<unknown>(
    [
      { mode: 'survival' },
      { message: nest },
      { message: '§aA' },
      { max: 20 },
      { seconds: -1 },
      { distance: 10 },
      { difficulty: 'hard' },
      'easy',
      5,
    ],
    { run: (result) => readingMethods.map((method) => parseSetting(method, result)) },
  ),
  'src/game/protocol/management.ts parsePlayers': fuzz<unknown>([{ players: [{ name: 'a', id: uuid }] }]),
  'src/game/protocol/management.ts parseStatus': fuzz<unknown>([
    { players: [{ name: 'a', id: uuid }], started: true, version: { name: '1.21.9', protocol: 773 } },
  ]),
  'src/game/protocol/management.ts parseWorldUpgrade': fuzz<readonly unknown[]>(
    [['minecraft:notification/world/upgrade_progress', [{ progress: 0.5 }]]],
    {
      run: ([method, params]) => [
        parseWorldUpgrade(eventName(String(JSON.stringify(method))), params),
        eventParameter(params, 'player'),
      ],
    },
  ),
  'src/game/protocol/query.ts decodeChallenge': fuzz([Buffer.from('\t\0\0\0\x019513307\0'), Buffer.from('\t\0\0\0\x01abcd')], {
    throws: [ProtocolError],
    run: (bytes: Buffer) => encodeFullStat(1, decodeChallenge(bytes)),
  }),
  'src/game/protocol/query.ts decodeFullStat': fuzz([fullStat, basicStat], {
    throws: [ProtocolError],
    run: decodeFullStat,
  }),
  'src/game/protocol/rcon/forge-tps.ts parseForgeTps': fuzz([
    'Dim 0 (overworld) : Mean tick time: 0.1 ms. Mean TPS: 20.000\nOverall : Mean tick time: 0.1 ms. Mean TPS: 20.000',
  ]),
  'src/game/protocol/rcon/forge-tps.ts parseNeoForgeTps': fuzz([
    'minecraft:overworld: 20.000 TPS (0.1 ms/tick)\nOverall: 20.000 TPS (0.1 ms/tick)',
  ]),
  'src/game/protocol/rcon/paper-tps.ts parsePaperTps': fuzz(['§6TPS from last 1m, 5m, 15m: §a*20.0, §a19.98, §a20.0\n']),
  'src/game/protocol/rcon/paper-tps.ts parsePaperMspt': fuzz([
    'Server tick times (avg/min/max) from last 5s, 10s, 1m:\n◴ 1.2/0.5/3.4, 1.2/0.5/3.4, 1.2/0.5/3.4',
  ]),
  'src/game/protocol/rcon/player-list.ts parsePlayerList': fuzz([
    `There are 2 of a max of 20 players online: a (${uuid}), b (${uuid})`,
    'There are 0/20 players online:\n',
  ]),
  'src/game/protocol/rcon/reply.ts parseDifficulty': fuzz(['The difficulty is Hard']),
  'src/game/protocol/rcon/server-version.ts parseServerVersion': fuzz([
    'Server version info:id = 1.21.9name = 1.21.9data = 4554series = mainprotocol = 773 (0x305)build_time = apack_resource = 1.0pack_data = 2.0stable = yes',
  ]),
  'src/game/protocol/rcon/tick-query.ts parseTickQuery': fuzz([
    'The game is running normally\nTarget tick rate: 20.0 per second.\nAverage time per tick: 1.5ms (Target: 50.0ms)Percentiles: P50: 1.2ms P95: 2.0ms P99: 3.0ms, sample: 100',
    'The game is running normally\nTarget tick rate: \u0662\u0660\u066b\u0660 per second.\nAverage time per tick: \u06f1\u066b\u06f5ms (Target: 50.0ms)Percentiles: P50: 1.2ms P95: 2.0ms P99: 3.0ms. Sample: 100',
  ]),
  'src/game/protocol/rcon/time-query.ts parseGameTime': fuzz(['The game time is 123 tick(s)', 'The time is 5']),
  'src/game/protocol/rcon/packets.ts decodeChunk': fuzz(
    [Buffer.concat([encodeRconPacket({ id: 1, type: 0, body: 'abc' }), encodeRconPacket({ id: 2, type: 2, body: 'é' })])],
    {
      throws: [ProtocolError],
      run: (bytes: Buffer) => {
        const decoder = new RconDecoder()
        for (const part of [bytes.subarray(0, 9), bytes.subarray(9, 10), bytes.subarray(10)])
          for (const _ of decodeChunk(decoder, part));
      },
    },
  ),
  'src/game/protocol/status/frames.ts readVarInt': fuzz([Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])], {
    throws: [ProtocolError],
    run: (bytes: Buffer) => readVarInt(bytes, 0),
  }),
  'src/game/protocol/status/frames.ts readString': { throws: [ProtocolError] },
  'src/game/protocol/status/frames.ts FrameReader': fuzz(
    [Buffer.concat([encodeFrame(0, encodeString('{}')), encodeFrame(1, Buffer.alloc(8))])],
    {
      throws: [ProtocolError],
      run: (bytes: Buffer) => {
        const reader = new FrameReader()
        for (const part of [bytes.subarray(0, 1), bytes.subarray(1, 5), bytes.subarray(5)]) {
          reader.push(part)
          while (reader.next() !== undefined);
        }
      },
    },
  ),
  'src/game/protocol/status/status.ts decodeStatus': { throws: [ProtocolError] },
  'src/game/protocol/status/status.ts decodePing': fuzz([Buffer.alloc(8)], {
    throws: [ProtocolError],
    run: (body: Buffer) => decodePing({ id: 1, body }),
  }),
  'src/game/protocol/status/status-reply.ts parseStatusReply': fuzz(json(status), { throws: [ProtocolError] }),
  'src/game/sources/rcon/reply-collector.ts ReplyCollector': fuzz(['There are 0 of a max of 20 players online: '.repeat(200)], {
    run: (text: string) =>
      cases['src/game/sources/rcon/reply-collector.ts ReplyCollector']!.run([text.slice(0, 4_096), text.slice(4_096)] as never),
  }),
  'src/game/sources/status/reply-reader.ts ReplyReader': { throws: [ProtocolError] },
  'src/game/protocol/status/unconnected-ping.ts decodeUnconnectedPong': fuzz(
    [pong('MCPE;§aServer;924;1.21.130;2;10;1234;Level;Creative;1;19132;19133;'), pong('').subarray(0, 33)],
    { throws: [ProtocolError], run: decodeUnconnectedPong },
  ),
  'src/game/protocol/status/nethernet.ts decodeJoinReply': fuzz(
    json({ name: 'a', level: 'b', version: '1.26.51', protocol: '1000', players: 1, maxPlayers: 10, gameType: 0 }),
  ),
  'src/game/protocol/status/version-name.ts parseVersionName': fuzz([
    'Paper 1.21.4',
    '§aVelocity 1.7.2-1.21.4',
    'BungeeCord 1.8.x-1.21.x',
  ]),
  'src/game/protocol/uuid.ts normaliseUuid': fuzz([uuid, uuid.replaceAll('-', '')]),
  'src/game/sources/directory/server-properties.ts parseProperties': fuzz([
    '#a\nmotd=\\u00e9\\\n  b\nserver-port : 25565\nmax-players 20\n',
  ]),
  'src/game/sources/directory/server-properties.ts decodeProperties': fuzz(
    [Buffer.from('motd=é\n', 'latin1'), Buffer.from('motd=é\n')],
    {
      run: decodeProperties,
    },
  ),
  'src/game/sources/directory/log-lines.ts parseLogLine': fuzz([
    '[12:00:00] [Server thread/INFO]: Notch joined the game',
    "[12:00:00] [Server thread/WARN]: Can't keep up! Is the server overloaded? Running 2031ms or 40 ticks behind",
    '[12:00:00] [Server thread/INFO]: Done (12.345s)! For help, type "help"',
  ]),
  'src/game/sources/directory/log-follower.ts createLogFollower': { isSlow: true },
  'src/game/sources/directory/reader.ts createDirectoryReader': { isSlow: true },
  'src/history/store/old-files.ts decodeOldFile': fuzz([[oldImage, Buffer.alloc(46, 1), oldJoin('a')]], {
    // With a checksum that is right, or nothing of a frame would be read.
    run: (frames: readonly unknown[]) =>
      decodeOldFile(Buffer.concat([oldStart, ...frames.map((frame, index) => oldFrame(Math.min(2 + index, 4), toBytes(frame)))])),
  }),
  'src/http/bearer.ts createBearerCheck': { throws: [RequestError] },
  'src/http/parameters.ts parseQuery': fuzz(['a=1&b=%C3%A9&c=+&a=2'], { throws: [RequestError] }),
  'src/http/replies/accept.ts negotiate': fuzz(['text/html;q=0.5, image/*;q=1, */*;q=0']),
  'src/http/request-target.ts normaliseTarget': fuzz(['http://a.test/b?c=d', '/a/../b?c']),
  'src/web/client/event-parser.ts createEventParser': fuzz(
    ['id: 1\nevent: a\ndata: {"a":1}\n\nretry: 10\n: b\r\ndata: c\r\n\r\n'],
    {
      run: (text: string) => {
        const parse = createEventParser(
          () => {},
          () => {},
        )
        for (const part of [text.slice(0, 7), text.slice(7, 8), text.slice(8)]) parse(part)
      },
    },
  ),
}

export interface FuzzedReader {
  readonly run: (input: never) => unknown
  readonly throws: NonNullable<Fuzzed['throws']>
  /** Of which the first are valid. */
  readonly examples: readonly unknown[]
  readonly validCount: number
  readonly isSlow: boolean
}

function toReader(name: string): FuzzedReader {
  const { throws = [], examples: valid = [], refused = [], run, isSlow = false } = fuzzed[name] ?? {}
  const growth = cases[name]
  // With a reader of its own, the inputs of the case are of another form.
  const others =
    growth === undefined || run !== undefined
      ? []
      : [16, 96].flatMap((size) => Object.values(growth.makers).map((make) => make(size)))
  const reader = run ?? growth?.run
  if (reader === undefined) throw new Error(`${name} has neither a case nor a reader`)
  return { throws, run: reader, examples: [...valid, ...refused, ...others], validCount: valid.length, isSlow }
}

export const readers: Readonly<Record<string, FuzzedReader>> = Object.fromEntries(
  [...new Set([...Object.keys(cases), ...Object.keys(fuzzed)])].map((name) => [name, toReader(name)]),
)
