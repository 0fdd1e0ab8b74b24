import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { createTargetFinder } from '../../exporter/probe/target.ts'
import { schemaVersion } from '../../src/cluster/keys.ts'
import { createSnapshotCodec } from '../../src/cluster/snapshot-codec.ts'
import { parseListening } from '../../src/commands/init/find-servers.ts'
import { createAnonymiser, createLeakFinder, replaceInJson } from '../../src/commands/record/anonymiser.ts'
import { parseServerFile, readServerValues } from '../../src/config/parse-servers.ts'
import { readServerFile } from '../../src/config/server-file.ts'
import { comebacksDatabase } from '../../src/data/databases/kcomebacks.ts'
import { readArchive } from '../../src/data/scripts/kcomebacks/archive.ts'
import { nothingAbove, readMoment } from '../../src/data/scripts/kcomebacks/moment.ts'
import { readMonthPage } from '../../src/data/scripts/kcomebacks/page.ts'
import { readTables } from '../../src/data/scripts/kcomebacks/tables.ts'
import { createUpstreamMask } from '../../src/data/scripts/mask-upstream.ts'
import { readProjectList } from '../../src/data/scripts/projects/project-list.ts'
import { readRateLimit } from '../../src/data/scripts/rate-limit.ts'
import { parseDay as parseCalendarDay, parseLastUpdate } from '../../src/data/store/dates.ts'
import { loadSnapshot } from '../../src/data/store/read-snapshot.ts'
import { velocity } from '../../src/discovery/providers/velocity.ts'
import { createTargetGroupReader, parseList } from '../../src/discovery/target-groups.ts'
import { parseHosts, parseResolvConf } from '../../src/game/names/system-files.ts'
import { decodeBulkReply } from '../../src/game/protocol/jolokia.ts'
import { parsePlayers, parseSetting, parseStatus } from '../../src/game/protocol/management.ts'
import { decodeChallenge, decodeFullStat } from '../../src/game/protocol/query.ts'
import { parseForgeTps, parseNeoForgeTps } from '../../src/game/protocol/rcon/forge-tps.ts'
import { decodeChunk, encodeRconPacket, RconDecoder } from '../../src/game/protocol/rcon/packets.ts'
import { parsePaperMspt, parsePaperTps } from '../../src/game/protocol/rcon/paper-tps.ts'
import { parsePlayerList } from '../../src/game/protocol/rcon/player-list.ts'
import { parseDifficulty, plainReply } from '../../src/game/protocol/rcon/reply.ts'
import { parseServerVersion } from '../../src/game/protocol/rcon/server-version.ts'
import { parseTickQuery } from '../../src/game/protocol/rcon/tick-query.ts'
import { parseDay, parseGameTime, parseTimeOfDay } from '../../src/game/protocol/rcon/time-query.ts'
import { encodeFrame, encodeString, FrameReader, readString } from '../../src/game/protocol/status/frames.ts'
import { decodeJoinReply } from '../../src/game/protocol/status/nethernet.ts'
import { decodeStatus } from '../../src/game/protocol/status/status.ts'
import { parseStatusReply } from '../../src/game/protocol/status/status-reply.ts'
import { decodeUnconnectedPong, encodeUnconnectedPing } from '../../src/game/protocol/status/unconnected-ping.ts'
import { parseVersionName } from '../../src/game/protocol/status/version-name.ts'
import { createTextReader, plainText, stripFormatting } from '../../src/game/protocol/text.ts'
import { parseTextRuns } from '../../src/game/protocol/text-runs.ts'
import { normaliseUuid } from '../../src/game/protocol/uuid.ts'
import { createLogFollower } from '../../src/game/sources/directory/log-follower.ts'
import { parseLogLine } from '../../src/game/sources/directory/log-lines.ts'
import { createDirectoryReader } from '../../src/game/sources/directory/reader.ts'
import { decodeProperties, parseProperties } from '../../src/game/sources/directory/server-properties.ts'
import { ReplyCollector } from '../../src/game/sources/rcon/reply-collector.ts'
import { ReplyReader } from '../../src/game/sources/status/reply-reader.ts'
import { decodeOldFile } from '../../src/history/store/old-files.ts'
import { createBearerCheck } from '../../src/http/bearer.ts'
import { createProxyCheck } from '../../src/http/clients/trusted-proxies.ts'
import { parseQuery } from '../../src/http/parameters.ts'
import { acceptedCoding, acceptsGzip, negotiate, prefersImages } from '../../src/http/replies/accept.ts'
import { normaliseTarget } from '../../src/http/request-target.ts'
import { MetricDataReader } from '../../src/otlp/metric-data.ts'
import { createMask } from '../../src/secrets/mask.ts'
import { quoted } from '../../src/settings/read.ts'
import { parseHost, parseHostPort, parseServerAddress } from '../../src/util/address.ts'
import { systemClock } from '../../src/util/clock.ts'
import { parseJson, parseJsonIfValid } from '../../src/util/json.ts'
import { readBody } from '../../src/util/read-body.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { createEventParser } from '../../src/web/client/event-parser.ts'
import { type Growth, type Maker, texts } from './growth.ts'

/** Characters of a reply by RCON, and of a file of medium size. */
const [replySize, fileSize] = [1_048_576, 1_048_576]
/** Node.js refuses more bytes of headers, the query included. */
const headerSize = 16_384
const month = '2026-02'

/** A text in each place where a parser finds one. */
const text = (run: (text: string) => unknown, maxSize: number, pieces: readonly string[], start = '', end = ''): Growth => ({
  run,
  maxSize,
  makers: texts(pieces, start, end),
})
const made = <T>(run: (input: T) => unknown, maxSize: number, makers: Readonly<Record<string, (size: number) => T>>): Growth => ({
  run: run as Growth['run'],
  maxSize,
  makers: makers as Readonly<Record<string, Maker>>,
})
/** JSON whose size is about the number of items times their length. */
const listOf =
  <T>(item: (index: number) => T, length: number) =>
  (size: number) =>
    Array.from({ length: Math.ceil(size / length) }, (_, index) => item(index))
const nested = (size: number, open: string, close: string, inside = '') => open.repeat(size / 2) + inside + close.repeat(size / 2)
/** Keys that differ. */
const recordOf =
  <T>(value: (index: number) => T, length: number) =>
  (size: number) =>
    Object.fromEntries(listOf((index) => [`key${index}`, value(index)], length)(size))

/** Runs with a file of this name and content in a new folder. */
async function inFolder(name: string, content: string | Buffer, run: (folder: string) => Promise<unknown>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-growth-'))
  try {
    writeFileSync(join(folder, name), content)
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A frame of a file of the history by an earlier version. */
export function oldFrame(kind: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt32LE(payload.length, 0)
  head.writeUInt8(kind, 4)
  head.writeUInt32LE(crc32(payload, kind), 5)
  return Buffer.concat([head, payload])
}
/** The start of such a file: header and name of the server. */
export const oldStart = Buffer.concat([Buffer.from('TWHIST\u0000\u0001', 'latin1'), oldFrame(1, Buffer.from('a'))])
/** With an empty image. */
const oldHistory = Buffer.concat([oldStart, oldFrame(2, Buffer.alloc(300))])
/** A player who joins. */
export function oldJoin(name: string): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(name.length)
  return Buffer.concat([Buffer.from([1]), Buffer.alloc(8), size, Buffer.from(name), Buffer.alloc(4)])
}

const uuid = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
const yaml = [
  'a',
  '\n',
  ' ',
  ':',
  ': ',
  '- ',
  '[',
  '{',
  ']',
  ',',
  '"',
  "'",
  '#',
  '&a ',
  '*a',
  '|',
  '? ',
  '!a ',
  '$' + '{A}',
  '@',
  '%',
  '\t',
]
const yamlTexts = {
  'different keys': (size: number) =>
    Object.keys(recordOf(String, 12)(size))
      .map((key) => `${key}: 1\n`)
      .join(''),
  'different anchors': (size: number) => listOf((index) => `k${index}: &a${index} x\n`, 14)(size).join(''),
  aliases: (size: number) => `a: &a [x]\n${listOf((index) => `k${index}: *a\n`, 12)(size).join('')}`,
  'wrong indentation': (size: number) => ' a: b\nc: d\n'.repeat(size / 11),
  'a long line in quotes': (size: number) => `a: "${'\\q'.repeat(size / 2)}"`,
  ...Object.fromEntries(yaml.map((piece) => [piece, (size: number) => `${piece}\n`.repeat(size / (piece.length + 1))])),
  ...Object.fromEntries(yaml.map((piece) => [`${piece} in a line`, (size: number) => `a: ${piece.repeat(size / piece.length)}`])),
}
/** With a new reader: one that has read a list keeps its servers, so that only what is new in a longer list would be measured. */
const targets = (groups: unknown) => createTargetGroupReader({ readServer: readServerValues })(groups)
const page = '# OSTs\n\n|Day|Time|Artist|Album Title|Streaming|\n|--|--|--|--|--|\n'
const wiki = ['a', '|', '\n', ' ', '-', '[', ']', '](', '*', '#', '\\', '|1|', '`', '&amp;', '=']

/** By file and name. */
export const cases: Readonly<Record<string, Growth>> = {
  'exporter/probe/target.ts createTargetFinder': text(createTargetFinder({ servers: [] } as never), headerSize, [
    'a',
    '.',
    ':',
    '[',
    '0',
    '-',
  ]),
  'src/cluster/snapshot-codec.ts createSnapshotCodec': made(
    (json: string) => createSnapshotCodec({ hashOf: String, get: () => undefined }).decode(json, 0),
    fileSize,
    Object.fromEntries(
      Object.entries({
        'unknown fields': recordOf(() => [1, 'status'], 20),
        motd: (size: number) => ({ motd: ['a'.repeat(size), 'status'] }),
        players: (size: number) => ({
          players: [{ players: listOf((index) => ({ name: `p${index}` }), 16)(size), complete: true }, 'rcon'],
        }),
      }).map(([name, fields]) => [
        name,
        (size: number) =>
          JSON.stringify({ version: schemaVersion, server: 'a', age: 0, sources: [], polls: {}, fields: fields(size) }),
      ]),
    ),
  ),
  'src/commands/record/anonymiser.ts createAnonymiser': text(
    (given) =>
      replaceInJson(JSON.stringify(given), createAnonymiser({ players: [{ name: 'ab' }], hosts: ['a.b'], secrets: ['a b'] })),
    fileSize,
    ['a', '.', ':', '-', '1', '"', '\\', uuid, '1.'],
  ),
  'src/commands/record/anonymiser.ts createLeakFinder': text(
    (given) => createLeakFinder({ players: [{ name: 'abc' }], hosts: ['a.b'], secrets: ['a b'] })(Buffer.from(given)),
    fileSize,
    ['a', ' ', 'a.b', 'abc'],
  ),
  'src/settings/read.ts quoted': text(quoted, fileSize, ['/', '@', 'a', ':', '?', '=', '#', ' ', '\n'], 'a'),
  'src/otlp/metric-data.ts MetricDataReader': made(
    (text: string) => {
      const reader = new MetricDataReader()
      for (const line of text.split('\n')) reader.add(line)
      return reader.metrics([0, 0], [0, 0])
    },
    fileSize,
    {
      samples: (size) => `# HELP a b\n# TYPE a gauge\n${'a{b="c"} 1\n'.repeat(size / 11)}`,
      families: (size) => listOf((index) => `# TYPE a${index} counter\na${index} 1\n`, 28)(size).join(''),
      labels: (size) => `# TYPE a gauge\na{${'b="c",'.repeat(size / 6)}} 1\n`,
      'a long value': (size) => `# TYPE a gauge\na{b="${'\\"'.repeat(size / 2)}"} 1\n`,
      commas: (size) => `# TYPE a gauge\na{b="${',x'.repeat(size / 2)}\n`,
      buckets: (size) => `# TYPE a histogram\n${'a_bucket{le="1"} 1\n'.repeat(size / 19)}`,
    },
  ),
  'src/util/yaml.ts parseTree': made((source: string) => parseTree(source, 'file', []), 16_384, yamlTexts),
  'src/config/server-file.ts readServerFile': made((source: string) => readServerFile(source, 'file', []), 65_536, {
    servers: (size) => `servers:\n${listOf((index) => ` - { name: s${index}, address: a${index} }\n`, 36)(size).join('')}`,
    'unknown keys': (size) => `servers:\n - address: a\n${listOf((index) => `   key${index}: 1\n`, 14)(size).join('')}`,
  }),
  'src/config/parse-servers.ts parseServerFile': made((source: string) => parseServerFile(source, 'file'), 65_536, {
    servers: (size) => `servers:\n${listOf((index) => ` - { name: s${index}, address: a${index} }\n`, 36)(size).join('')}`,
  }),
  'src/config/parse-servers.ts readServerValues': made(
    (values: Record<string, string>) => readServerValues(new Map(Object.entries(values)), 'place'),
    fileSize,
    { keys: recordOf(String, 12), address: (size) => ({ address: 'a.'.repeat(size / 2) }) },
  ),
  'src/discovery/target-groups.ts createTargetGroupReader': made(targets, fileSize, {
    targets: (size) => [{ targets: listOf((index) => `a${index}:1`, 9)(size) }],
    groups: listOf((index) => ({ targets: [`a${index}:1`], labels: { name: `n${index}` } }), 40),
    labels: (size) => [{ targets: ['a:1'], labels: recordOf(String, 12)(size) }],
    'labels shared by an alias': (size) => {
      const labels = recordOf(String, 12)(size / 2)
      return listOf((index) => ({ targets: [`a${index}:1`], labels }), 20)(size / 2)
    },
    settings: (size) => [{ targets: ['a:1'], labels: { __tickwarden_rcon_password: 'a'.repeat(size) } }],
  }),
  'src/http/request-target.ts normaliseTarget': text(
    (url) => normaliseTarget({ url, method: 'GET', headers: {} } as IncomingMessage),
    headerSize,
    ['a', '/', ':', '@', '?', '#', '*', 'http://'],
    'http://',
  ),
  'src/data/scripts/mask-upstream.ts createUpstreamMask': text(createUpstreamMask(['secret-1']), fileSize, [
    'a',
    'token=',
    'Bearer ',
    'secret',
    '&',
    ' ',
  ]),
  'src/game/protocol/text.ts createTextReader': made((component: unknown) => createTextReader()(component), fileSize, {
    'nested translations': (size) =>
      listOf(() => '%1$s'.repeat(20), 80)(size).reduce<unknown>((inner, translate) => ({ translate, with: [inner] }), 'x'),
    'empty components': (size) => ({ extra: listOf(() => ({ text: '' }), 8)(size) }),
    'a long pattern': (size) => ({ translate: '%s%%'.repeat(size / 4), with: ['a'] }),
  }),
  'src/discovery/target-groups.ts parseList': text(parseList, fileSize, ['[', '{"a":', ' ', '"', '\\', '1,']),
  'src/util/json.ts parseJson': text(parseJson, fileSize, ['[', '{"a":', '[]', '{', ' ', '"', '\\', '1,']),
  'src/util/json.ts parseJsonIfValid': text(parseJsonIfValid, fileSize, ['[', '{"a":', '[]', '{', ' ', '"', '\\', '1,']),
  'src/discovery/proxy-servers.ts readProxyFile': made(
    (toml: string) =>
      inFolder('velocity.toml', toml, async (folder) => {
        const measure = (_place: string, read: () => unknown) => read()
        const context = { clock: systemClock, changed: () => {}, measure, readServer: readServerValues }
        const provider = velocity.start({ discoveryVelocity: join(folder, 'velocity.toml') } as never, context as never)
        await provider.firstRead
        provider.close()
      }),
    fileSize,
    {
      servers: (size) => `[servers]\n${listOf((index) => `s${index} = "a${index}:1"\n`, 16)(size).join('')}`,
      'tables with many parts': (size) => `[${'a.'.repeat(size / 2)}a]`,
      tables: (size) => listOf((index) => `[t${index}]\n`, 8)(size).join(''),
      'equal tables': (size) => '[[a]]\n'.repeat(size / 6),
      ...Object.fromEntries(
        ['[', '{a=', '"', "'", '\\', ' ', '#', '\n', '1,', '"""', '"a",\n', '0', 'a.'].map((piece) => [
          piece,
          (size: number) => `a = [${piece.repeat(size / piece.length)}]`,
        ]),
      ),
    },
  ),
  'src/data/store/dates.ts parseDay': text(parseCalendarDay, headerSize, ['1', '-']),
  'src/data/store/dates.ts parseLastUpdate': text(parseLastUpdate, fileSize, ['1', '-', ' ', ':']),
  'src/data/store/read-snapshot.ts loadSnapshot': text(
    (json) => loadSnapshot(json, comebacksDatabase.format),
    16_384,
    ['{},', ',', ' ', '"', '\\', '[', '{"a":'],
    '[{"last_update": "2026-01-01 00:00:00 UTC"},',
    '{}]',
  ),
  'src/secrets/mask.ts createMask': text(createMask(['secret-1', 'secret']), fileSize, [
    'a',
    'a_',
    'token',
    '"',
    ' ',
    '=',
    'Bearer ',
    'secret',
    ':',
    '&',
  ]),
  'src/data/scripts/kcomebacks/archive.ts readArchive': text(readArchive, fileSize, ['/', 'upcoming-releases/', '2024/', 'a']),
  'src/data/scripts/kcomebacks/moment.ts readMoment': text((given) => readMoment(given, given, nothingAbove, month), 4_000, [
    '1',
    ' ',
    'st',
    '(',
    'fri',
    ',',
    ':',
    'am',
    '?',
  ]),
  'src/data/scripts/kcomebacks/page.ts readMonthPage': made((markdown: string) => readMonthPage(markdown, month), 65_536, {
    'rows of songs': (size) => page + '|1|12:00|A|B|[c](https://d.test)|\n'.repeat(size / 36),
    'rows of releases': (size) => page.slice(8) + '|1st (Fri)|6 pm|A|B|C|\n'.repeat(size / 24),
  }),
  'src/data/scripts/kcomebacks/tables.ts readTables': {
    run: readTables as Growth['run'],
    maxSize: 16_384,
    makers: {
      'a long delimiter': (size: number) => `a|b\n${' '.repeat(size)}x|`,
      'a long delimiter with cells': (size: number) => `a|b\n${'-|'.repeat(size / 2)}x`,
      'a long delimiter with blanks': (size: number) => `a|b\n-${' '.repeat(size)}|x`,
      ...texts(wiki),
      ...texts(wiki.slice(0, 8), page),
    },
  },
  'src/data/scripts/projects/project-list.ts readProjectList': made((json: string) => readProjectList(json, 'file'), 262_144, {
    projects: (size) => JSON.stringify(listOf((index) => ({ title: `t${index}`, gh_api: 'a/b' }), 30)(size)),
    'equal projects': (size) => JSON.stringify(listOf(() => ({ title: 't' }), 13)(size)),
    mistakes: (size) => JSON.stringify(listOf((index) => ({ [`k${index}`]: 1 }), 12)(size)),
  }),
  'src/data/scripts/rate-limit.ts readRateLimit': text(
    (value) => readRateLimit(429, { 'retry-after': value, 'x-ratelimit-remaining': value, 'x-ratelimit-reset': value }, 0),
    headerSize,
    ['1', '.', ' ', 'Mon', ','],
  ),
  'src/game/names/system-files.ts parseHosts': text(parseHosts, fileSize, ['a', ' ', '\n', '#', '\t']),
  'src/game/names/system-files.ts parseResolvConf': text(parseResolvConf, fileSize, [
    'a',
    ' ',
    '\n',
    'search ',
    'options ndots:1',
    '#',
  ]),
  'src/util/address.ts parseHost': text(parseHost, fileSize, ['a', '.', '-', ':', '[', '0', '0x']),
  'src/util/address.ts parseHostPort': text((given) => parseHostPort(given, 1), fileSize, ['a', '.', ':', '[', ']', ':1']),
  'src/util/address.ts parseServerAddress': text(parseServerAddress, fileSize, ['a', '.', ':', 'bedrock://']),
  'src/game/protocol/rcon/forge-tps.ts parseForgeTps': text(parseForgeTps, replySize, [
    'Dim ',
    ' ',
    '0',
    '(',
    ') ',
    'Overall',
    'Dim 0 (a) : Mean tick time: 0.1 ms. Mean TPS: 20.000',
    ':',
  ]),
  'src/game/protocol/rcon/forge-tps.ts parseNeoForgeTps': text(parseNeoForgeTps, replySize, [
    'a',
    ':',
    ' ',
    ': ',
    'a: 20.000 TPS (0.1 ms/tick)',
    '0',
  ]),
  'src/game/protocol/status/frames.ts readString': made((bytes: Buffer) => readString(bytes, 0), fileSize, {
    'a string': (size) => encodeString('a'.repeat(size)),
  }),
  'src/game/protocol/status/frames.ts FrameReader': made(
    (chunks: readonly Buffer[]) => {
      const reader = new FrameReader()
      for (const chunk of chunks) {
        reader.push(chunk)
        while (reader.next() !== undefined);
      }
    },
    262_144,
    {
      'single bytes': (size) => Array.from(encodeFrame(0, Buffer.alloc(size)), (byte) => Buffer.from([byte])),
      'frames in one chunk': (size) => [Buffer.concat(Array.from({ length: size / 8 }, () => encodeFrame(0, Buffer.alloc(6))))],
    },
  ),
  'src/game/protocol/jolokia.ts decodeBulkReply': text(
    (bean) => {
      const beans = { status: 200, value: { [bean]: { Usage: { used: 1 } } } }
      return decodeBulkReply(JSON.stringify([{ status: 404 }, beans, { status: 404 }, { status: 404 }]))
    },
    262_144,
    [',name=', ',name="', '"', ',type=', 'a', '\\', ','],
    'java.lang:',
    '\n',
  ),
  'src/game/sources/directory/log-lines.ts parseLogLine': text(
    parseLogLine,
    4_096,
    ['a', ' ', '[', ']', '(', ')', ': ', '1', 'Running 1ms', ' behind', '--fml.forgeVersion, ', '.', "Can't keep up! "],
    '[12:00:00] [Server thread/INFO]: ',
  ),
  'src/game/protocol/management.ts parseSetting': made(
    (message: unknown) => parseSetting('minecraft:serversettings/motd', { message }),
    fileSize,
    { text: (size) => '§a'.repeat(size / 2), patterns: (size) => ({ text: '%s'.repeat(size / 2) }) },
  ),
  'src/game/protocol/management.ts parsePlayers': made(parsePlayers, fileSize, {
    players: listOf((index) => ({ name: `p${index}`, id: uuid }), 60),
    'long names': listOf(() => ({ name: 'a'.repeat(1_000) }), 1_000),
  }),
  'src/game/protocol/management.ts parseStatus': made((players: unknown) => parseStatus({ players }), fileSize, {
    players: listOf((index) => ({ name: `p${index}` }), 16),
  }),
  'src/game/protocol/status/nethernet.ts decodeJoinReply': made(decodeJoinReply, fileSize, {
    name: (size) => JSON.stringify({ name: 'a'.repeat(size), protocol: '1'.repeat(size) }),
  }),
  'src/game/protocol/rcon/paper-tps.ts parsePaperTps': text(
    parsePaperTps,
    replySize,
    ['1', '.', '*', ', '],
    'TPS from last 1m, 5m, 15m: ',
  ),
  'src/game/protocol/rcon/paper-tps.ts parsePaperMspt': text(
    parsePaperMspt,
    replySize,
    ['1', '.', '/', ' ', '◴ '],
    'Server tick times (avg/min/max) from last 5s, 10s, 1m:',
  ),
  'src/game/protocol/rcon/player-list.ts parsePlayerList': text(
    parsePlayerList,
    replySize,
    ['a', ', ', ' (', '0', '-', ` (${uuid}), `, `a (${uuid})`, '\n'],
    'There are 1 of a max of 20 players online: ',
  ),
  'src/game/protocol/query.ts decodeChallenge': made(
    (size: number) => decodeChallenge(Buffer.from('\t'.repeat(5) + '1'.repeat(size))),
    65_536,
    { digits: Number },
  ),
  'src/game/protocol/query.ts decodeFullStat': text(
    (values) => decodeFullStat(Buffer.from(`\0\0\0\0\0splitnum\0\x80\0${values}`, 'latin1')),
    65_536,
    ['\0', 'a', 'hostname\0', '\0gametype\0', 'version\x001.', '1', '\0\0\x01player_\0\0', 'plugins\0a: ', '; ', 'é'],
    'hostname\0a\0gametype\0SMP\0version\x001.21.11\0',
    '\0\0\x01player_\0\0a\0b\0\0',
  ),
  'src/game/protocol/rcon/reply.ts plainReply': text(plainReply, replySize, ['§', 'a', '\r', '\n', ' ']),
  'src/game/protocol/rcon/reply.ts parseDifficulty': text(parseDifficulty, replySize, ['a', ' '], 'The difficulty is '),
  'src/game/protocol/rcon/packets.ts decodeChunk': made(
    (chunks: readonly Buffer[]) => {
      const decoder = new RconDecoder()
      for (const chunk of chunks) for (const _ of decodeChunk(decoder, chunk));
    },
    262_144,
    {
      'single bytes': (size) =>
        Array.from(Buffer.alloc(size, encodeRconPacket({ id: 1, type: 0, body: 'abc' })), (byte) => Buffer.from([byte])),
      'one chunk': (size) => [Buffer.alloc(size, encodeRconPacket({ id: 1, type: 0, body: 'abc' }))],
    },
  ),
  'src/game/sources/directory/server-properties.ts parseProperties': text(
    parseProperties,
    fileSize,
    ['\\', '\\\n', '\n', 'a', '=', ' ', '\\u00e9', '#', '\r', 'a=1\n'],
    'a',
  ),
  'src/game/sources/directory/server-properties.ts decodeProperties': text(
    (given) => decodeProperties(Buffer.from(given, 'latin1')),
    fileSize,
    ['a', 'é'],
  ),
  'src/game/protocol/rcon/server-version.ts parseServerVersion': {
    run: parseServerVersion as Growth['run'],
    maxSize: 960,
    makers: {
      'labels in order': (size: number) => {
        const fill = (label: string) => label.repeat(size / 3 / label.length)
        return `Server version info:id = ${fill('name = ')}${fill('data = 1series = ')}${fill(' ')}`
      },
      ...texts(['id = ', ' name = ', ' data = 1', ' series = ', ' protocol = ', '1', ' ', ' version '], 'Server version info:'),
    },
  },
  'src/game/protocol/status/status.ts decodeStatus': made((body: Buffer) => decodeStatus({ id: 0, body }), fileSize, {
    text: (size) => encodeString('é'.repeat(size / 2)),
  }),
  'src/game/protocol/status/status-reply.ts parseStatusReply': made(parseStatusReply, fileSize, {
    players: (size) =>
      JSON.stringify({ players: { online: 1, sample: listOf((index) => ({ name: `p${index}`, id: uuid }), 60)(size) } }),
    mods: (size) => JSON.stringify({ forgeData: { mods: listOf((index) => ({ modId: `m${index}` }), 16)(size) } }),
    favicon: (size) => JSON.stringify({ favicon: `data:image/png;base64,${'aaa\n'.repeat(size / 4)}` }),
    version: (size) => JSON.stringify({ version: { name: '1.21 '.repeat(size / 5) } }),
    siblings: (size) => JSON.stringify({ description: { extra: listOf(() => ({ text: 'a', color: 'red' }), 28)(size) } }),
    nesting: (size) => `{"description":${nested(size, '[', ']')}}`,
    'codes in the text': (size) => JSON.stringify({ description: '§a'.repeat(size / 2) }),
    'a translation': (size) =>
      JSON.stringify({ description: { translate: '%1$s'.repeat(size / 8), with: ['%1$s'.repeat(size / 8)] } }),
  }),
  'src/game/protocol/text.ts stripFormatting': text(stripFormatting, fileSize, ['§', 'a', '\r', '\n', '\t', '\0']),
  'src/game/protocol/text.ts plainText': text((given) => plainText({ translate: given, with: [given] }), fileSize, [
    '%',
    '%s',
    '%1$s',
    '1',
    '$',
    'a',
  ]),
  'src/game/protocol/text-runs.ts parseTextRuns': text(parseTextRuns, 65_536, [
    '§',
    'a',
    '§a',
    '§x',
    '#',
    '§l',
    '\n',
    '§#12ab34',
  ]),
  'src/game/protocol/rcon/tick-query.ts parseTickQuery': text(
    parseTickQuery,
    replySize,
    ['Target tick rate: ', '1', '.', ' per second.', ' ', '\n', 'Average time per tick: 1ms', 'Percentiles: '],
    'The game is running normally',
  ),
  'src/game/protocol/rcon/time-query.ts parseGameTime': text(parseGameTime, replySize, ['1', ' tick(s)'], 'The game time is '),
  'src/game/protocol/rcon/time-query.ts parseTimeOfDay': text(
    parseTimeOfDay,
    replySize,
    ['1', ' '],
    'Clock minecraft:overworld is at ',
  ),
  'src/game/protocol/rcon/time-query.ts parseDay': text(parseDay, replySize, ['1', ' '], 'Timeline minecraft:day has passed '),
  'src/game/protocol/status/unconnected-ping.ts decodeUnconnectedPong': text(
    (fields) => {
      const ping = encodeUnconnectedPing(0n)
      const head = Buffer.concat([
        Buffer.from([0x1c]),
        ping.subarray(1, 9),
        Buffer.alloc(8),
        ping.subarray(9, 25),
        Buffer.alloc(2),
      ])
      head.writeUInt16BE(Buffer.byteLength(fields), head.length - 2)
      return decodeUnconnectedPong(Buffer.concat([head, Buffer.from(fields)]))
    },
    8_100,
    [';', '\\;', '\\', 'a', '§a'],
    'MCPE;a;1;1;1;1;',
  ),
  'src/game/protocol/uuid.ts normaliseUuid': text(normaliseUuid, fileSize, ['a', '-']),
  'src/game/protocol/status/version-name.ts parseVersionName': text(
    parseVersionName,
    fileSize,
    ['1', '.', ' ', '1.21', '-', ', ', 'a', ' - '],
    'Velocity ',
  ),
  'src/game/sources/directory/log-follower.ts createLogFollower': made(
    (log: string) =>
      inFolder('latest.log', '', async (folder) => {
        const { mkdirSync } = await import('node:fs')
        mkdirSync(join(folder, 'logs'))
        writeFileSync(join(folder, 'logs/latest.log'), '')
        const follower = createLogFollower(folder)
        await follower.read()
        writeFileSync(join(folder, 'logs/latest.log'), log)
        await follower.read()
        await follower.close()
      }),
    4 * 1_048_576,
    {
      'one line': (size) => 'a'.repeat(size),
      'short lines': (size) => '\n'.repeat(size),
      joins: (size) => '[12:00:00] [Server thread/INFO]: a joined the game\n'.repeat(size / 51),
    },
  ),
  'src/game/sources/directory/reader.ts createDirectoryReader': made(
    (properties: string) =>
      inFolder('server.properties', properties, async (folder) => {
        const reader = createDirectoryReader(folder)
        await reader.read()
        reader.close()
      }),
    fileSize,
    {
      'continued lines': (size) => 'a\\\n'.repeat(size / 3),
      backslashes: (size) => `a=${'\\'.repeat(size)}x`,
      motd: (size) => `motd=${'§a'.repeat(size / 2)}`,
    },
  ),
  'src/game/sources/rcon/reply-collector.ts ReplyCollector': made(
    (bodies: readonly string[]) => {
      const collector = new ReplyCollector(1, {
        clock: systemClock,
        replyEnd: { bySilence: false },
        sendEndMark: () => 2,
        done: ({ text: all }) => all.trim(),
      })
      for (const body of bodies) collector.receive({ id: 1, type: 0, body }, 0)
      collector.receive({ id: 2, type: 0, body: '' }, 0)
    },
    replySize,
    { pieces: (size) => Array.from({ length: Math.max(1, size / 4_096) }, () => 'a'.repeat(4_096)) },
  ),
  'src/game/sources/status/reply-reader.ts ReplyReader': made(
    (json: string) => new ReplyReader().read({ id: 0, body: encodeString(json) }),
    fileSize,
    { text: (size) => JSON.stringify({ description: 'a'.repeat(size) }) },
  ),
  'src/commands/init/find-servers.ts parseListening': text((table) => parseListening(table, '0A', 'java'), fileSize, [
    '   0: 0100007F:63DD 00000000:0000 0A 00000000:00000000\n',
    '0',
    ' ',
    ': ',
    '\n',
    'A',
  ]),
  'src/history/store/old-files.ts decodeOldFile': made(decodeOldFile, fileSize, {
    'small frames': (size) => Buffer.concat([oldHistory, ...listOf(() => oldFrame(4, Buffer.alloc(17)), 26)(size)]),
    'one frame': (size) => Buffer.concat([oldHistory, oldFrame(3, Buffer.alloc(size))]),
    sessions: (size) => Buffer.concat([oldHistory, ...listOf((index) => oldFrame(4, oldJoin(`player${index}`)), 50)(size)]),
  }),
  'src/http/replies/accept.ts acceptsGzip': text(acceptsGzip, headerSize, ['gzip', ',', ';', 'q=0.5', '=', ' ', 'a']),
  'src/http/replies/accept.ts negotiate': text((accept) => negotiate(accept, ['text/html', 'image/png']), headerSize, [
    'text/html',
    ',',
    ';',
    'q=0.5',
    '=',
    ' ',
    '"',
    'a',
    '; a=',
    '*/*',
  ]),
  'src/http/replies/accept.ts prefersImages': text(prefersImages, headerSize, [
    'image/png',
    ',',
    ';',
    'q=0.5',
    '=',
    ' ',
    '"',
    'a',
    '*/*',
  ]),
  'src/http/bearer.ts createBearerCheck': text(
    (authorization) =>
      createBearerCheck({ token: () => 'a', env: 'A', realm: 'a' })({ headers: { authorization } } as FastifyRequest),
    headerSize,
    [' ', 'a', '\t'],
    'Bearer ',
  ),
  'src/http/parameters.ts parseQuery': text(parseQuery, headerSize, ['a', '=', '&', 'a=1&', '%41', '+', '%']),
  'src/http/clients/trusted-proxies.ts createProxyCheck': text(createProxyCheck(['10.0.0.0/8']), headerSize, [
    '1',
    '.',
    ':',
    'a',
  ]),
  'src/http/replies/accept.ts acceptedCoding': text(acceptedCoding, headerSize, ['br', ',', ';', 'q=0', '.', ' ']),
  'src/util/read-body.ts readBody': made(
    async (chunks: readonly Buffer[]) =>
      readBody(
        (async function* () {
          yield* chunks
        })(),
        fileSize,
      ),
    65_536,
    { 'single bytes': (size) => Array.from({ length: size }, () => Buffer.alloc(1)) },
  ),
  'src/web/client/event-parser.ts createEventParser': made(
    (chunks: readonly string[]) => {
      const parse = createEventParser(
        () => {},
        () => {},
      )
      for (const chunk of chunks) parse(chunk)
    },
    262_144,
    {
      'a line in pieces': (size) => Array.from({ length: size }, () => 'a'),
      'data lines': (size) => ['data: a\n'.repeat(size / 8), '\n'],
    },
  ),
}
