import { describe, expect, it } from 'vitest'
import { parseStatusReply, type StatusReply } from '../../../../src/game/protocol/status/status-reply.ts'
import { parseVersionName } from '../../../../src/game/protocol/status/version-name.ts'
import { hostileReplies, nestedTranslate } from '../../../helpers/hostile-replies.ts'

const id = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
const parse = (reply: unknown) => parseStatusReply(JSON.stringify(reply))
const png = Buffer.from('89504e470d0a1a0a', 'hex')

describe('a status reply', () => {
  it.each<[string, unknown, Partial<StatusReply>]>([
    ['nothing', {}, {}],
    ['null everywhere', { version: null, players: null, description: null, favicon: null, forgeData: null }, {}],
    ['a wrong form everywhere', { version: 7, players: 'x', description: {}, favicon: 1, enforcesSecureChat: 'y' }, { motd: '' }],
    [
      'version',
      { version: { name: '§aPaper 1.20.4', protocol: 765 } },
      { version: '1.20.4', software: 'Paper', protocol: 765, secureChatEnforced: false },
    ],
    ['a negative protocol', { version: { name: '', protocol: -1 } }, {}],
    ['motd as array', { description: ['a', { text: 'b' }] }, { motd: 'ab' }],
    ['motd with colours', { description: '\u00a7aHi' }, { motd: 'Hi', formattedMotd: '\u00a7aHi' }],
    [
      'secure chat of the first snapshots',
      { version: { protocol: 2 ** 30 + 102 } },
      { protocol: 2 ** 30 + 102, secureChatEnforced: false },
    ],
    ['secure chat of the last snapshot before', { version: { protocol: 2 ** 30 + 101 } }, { protocol: 2 ** 30 + 101 }],
    ['secure chat of a snapshot with the lowest number', { version: { protocol: 2 ** 30 } }, { protocol: 2 ** 30 }],
    ['motd as empty string', { description: '' }, { motd: '' }],
    ['counts', { players: { max: 20, online: 25 } }, { playersMax: 20, playersOnline: 25 }],
    ['falsified counts', { players: { max: -1, online: 1.5 } }, {}],
    ['counts that are no numbers', { players: { max: '20', online: null } }, {}],
    [
      'an empty server',
      { players: { max: 20, online: 0, sample: null } },
      { playersMax: 20, playersOnline: 0, players: { players: [], complete: true } },
    ],
    [
      'a sample although nobody is counted',
      { players: { online: 0, sample: [{ name: 'Notch', id }] } },
      { playersOnline: 0, players: { players: [{ name: 'Notch', id }], complete: false } },
    ],
    [
      'lines of text of an empty server',
      { players: { online: 0, sample: [{ name: '§6Come in!', id }] } },
      { playersOnline: 0, players: { players: [], complete: true } },
    ],
    ['nobody named', { players: { online: 3, sample: [] } }, { playersOnline: 3 }],
    [
      'sample',
      { players: { online: 3, sample: [{ name: 'Notch', id }] } },
      { playersOnline: 3, players: { players: [{ name: 'Notch', id }], complete: false } },
    ],
    [
      'a UUID without dashes, in upper case',
      { players: { sample: [{ name: 'Notch', id: id.replaceAll('-', '').toUpperCase() }] } },
      { players: { players: [{ name: 'Notch', id }], complete: false } },
    ],
    [
      'hidden players and lines of text',
      {
        players: {
          online: 5,
          sample: [
            { name: 'Anonymous Player', id: '00000000-0000-0000-0000-000000000000' },
            { name: '§6Welcome!', id },
            { name: 'two words', id },
            { name: 'Welcome!', id: '00000000000000000000000000000000' },
            { name: '', id },
            { name: 5, id },
            null,
            'x',
            { name: 'Alice', id },
          ],
        },
      },
      { playersOnline: 5, players: { players: [{ name: 'Alice', id }], complete: false } },
    ],
    [
      'names without a UUID, or with what is none',
      {
        players: {
          online: 5,
          sample: [{ name: 'Bob' }, { name: 'Al', id }, { name: 'Cid', id: 'no uuid' }, { name: 'Dan', id: null }],
        },
      },
      {
        playersOnline: 5,
        players: { players: [{ name: 'Bob' }, { name: 'Al', id }, { name: 'Cid' }, { name: 'Dan' }], complete: false },
      },
    ],
    ['secure chat enforced', { enforcesSecureChat: true }, { secureChatEnforced: true }],
    ['secure chat before 1.19.1', { version: { protocol: 759 } }, { protocol: 759 }],
    ['secure chat from 1.19.1', { version: { protocol: 760 } }, { protocol: 760, secureChatEnforced: false }],
    ['secure chat of an old snapshot', { version: { protocol: 2 ** 30 + 50 } }, { protocol: 2 ** 30 + 50 }],
    [
      'secure chat of a new snapshot',
      { version: { protocol: 2 ** 30 + 250 } },
      { protocol: 2 ** 30 + 250, secureChatEnforced: false },
    ],
    ...['1.19.1', 'Paper 1.20', '1.21.11-pre3', '23w03a', '26.1'].map((name): [string, unknown, Partial<StatusReply>] => [
      `secure chat of ${name} without a protocol`,
      { version: { name, protocol: -1 } },
      { ...parseVersionName(name), secureChatEnforced: false },
    ]),
    ...['1.19', '1.19.1-pre2', '1.8.9', '1.2.5', '22w19a'].map((name): [string, unknown, Partial<StatusReply>] => [
      `secure chat of ${name} without a protocol`,
      { version: { name } },
      parseVersionName(name),
    ]),
    [
      'Forge to 1.12.2',
      {
        modinfo: {
          type: 'FML',
          modList: [
            { modid: 'minecraft', version: '1.12.2' },
            { modid: 'forge', version: '14.23.5.2860' },
          ],
        },
      },
      { loader: 'Forge', loaderVersion: '14.23.5.2860' },
    ],
    ['modinfo of another kind', { modinfo: { type: 'BUKKIT', modList: [] } }, {}],
    [
      'Forge',
      { version: { protocol: 754 }, forgeData: { mods: [{ modId: 'forge', modmarker: '36.2.39' }], fmlNetworkVersion: 2 } },
      { protocol: 754, loader: 'Forge', loaderVersion: '36.2.39' },
    ],
    [
      'Forge that hides its version',
      { version: { protocol: 754 }, forgeData: { mods: [{ modId: 'forge', modmarker: 'ANY' }] } },
      { protocol: 754, loader: 'Forge' },
    ],
    [
      'Forge 1.20.1',
      { version: { protocol: 763 }, forgeData: { mods: [{ modId: 'forge', modmarker: '47.4.0' }], fmlNetworkVersion: 3 } },
      { protocol: 763, secureChatEnforced: false, loader: 'Forge', loaderVersion: '47.4.0' },
    ],
    [
      'Forge or NeoForge 1.20.1',
      { version: { protocol: 763 }, forgeData: { mods: [{ modId: 'forge', modmarker: '47.1.106' }], fmlNetworkVersion: 3 } },
      { protocol: 763, secureChatEnforced: false },
    ],
    [
      'Forge without its mods',
      { forgeData: { fmlNetworkVersion: 2 }, version: { protocol: 754 } },
      { protocol: 754, loader: 'Forge' },
    ],
    ['Forge or NeoForge of an unknown version', { forgeData: { fmlNetworkVersion: 3 } }, {}],
    [
      'Forge of an unknown protocol',
      { forgeData: { mods: [{ modId: 'forge', modmarker: '36.2.39' }] } },
      { loader: 'Forge', loaderVersion: '36.2.39' },
    ],
    [
      'Forge 1.20.1 that hides its version',
      { version: { protocol: 763 }, forgeData: { mods: [{ modId: 'forge', modmarker: 'ANY' }] } },
      { protocol: 763, secureChatEnforced: false },
    ],
    [
      'Forge in upper case',
      { modinfo: { type: 'FML', modList: [{ modid: 'Forge', version: '10.13.4.1614' }] } },
      { loader: 'Forge', loaderVersion: '10.13.4.1614' },
    ],
    ['Forge without a list of mods', { modinfo: { type: 'FML', modList: {} } }, { loader: 'Forge' }],
    ...['1', '1.2.3.4.5.6', 'v1.2', '1.2-beta', '123456.1', 7].map((version): [string, unknown, Partial<StatusReply>] => [
      `Forge with the version ${version}`,
      { modinfo: { type: 'FML', modList: [{ modid: 'forge', version }] } },
      { loader: 'Forge' },
    ]),
    ['no loader', { isModded: 'yes' }, {}],
    ['NeoForge', { isModded: true }, { loader: 'NeoForge' }],
    [
      'mods that try to break in',
      {
        version: { protocol: 754 },
        forgeData: { mods: [null, 5, { modId: { toString: 1 } }, { modId: 'forge', modmarker: {} }] },
      },
      { protocol: 754, loader: 'Forge' },
    ],
    ['favicon', { favicon: `data:image/png;base64,${png.toString('base64')}` }, { favicon: png }],
    ['favicon with line breaks', { favicon: 'data:image/png;base64,iVBO\nRw0K\r\nGgo=\n' }, { favicon: png }],
    ['favicon of another type', { favicon: 'data:image/jpeg;base64,/9j/' }, { favicon: Buffer.from('ffd8ff', 'hex') }],
    [
      'favicon of 256 KiB',
      { favicon: `data:image/png;base64,${Buffer.alloc(262_144).toString('base64')}` },
      { favicon: Buffer.alloc(262_144) },
    ],
    ['favicon of one byte more', { favicon: `data:image/png;base64,${Buffer.alloc(262_145).toString('base64')}` }, {}],
    ['favicon without padding', { favicon: 'data:image/png;base64,iVBORw0KGg==' }, { favicon: png.subarray(0, 7) }],
    ['favicon with rubbish before it', { favicon: 'data:image/png;base64,!iVBO\n' }, {}],
    ['favicon with rubbish after it', { favicon: 'data:image/png;base64,iVBO!' }, {}],
    ['favicon after something else', { favicon: ' data:image/png;base64,iVBO' }, {}],
    ['favicon that is no base64', { favicon: 'data:image/png;base64,<script>' }, {}],
    ['favicon that is no data URL', { favicon: 'https://example.org/icon.png' }, {}],
    ['favicon that is empty', { favicon: 'data:image/png;base64,' }, {}],
    ['favicon of 300 kB', { favicon: `data:image/png;base64,${Buffer.alloc(300_000).toString('base64')}` }, {}],
  ])('%s', (_, reply, expected) => {
    const { rawStatus, ...fields } = parse(reply)
    expect(rawStatus.version).toEqual(expect.any(String))
    expect(fields).toStrictEqual({ edition: 'java', ...expected })
  })

  it.each<[unknown, StatusReply['rawStatus']]>([
    [{}, { version: '' }],
    [{ version: { name: 7 } }, { version: '' }],
    [
      { version: { name: '\u00a7aPaper 1.20.4' }, players: { online: -1, max: 0 } },
      { version: '\u00a7aPaper 1.20.4', playersOnline: -1, playersMax: 0 },
    ],
    [{ players: { online: 1.5, max: '20' } }, { version: '' }],
    [{ version: { name: 'x'.repeat(1_001) } }, { version: 'x'.repeat(1_000) }],
  ])('%j has the version and counts as sent', (reply, expected) => expect(parse(reply).rawStatus).toStrictEqual(expected))

  it('has the icon of the reply before, if it is the same', () => {
    const favicon = `data:image/png;base64,${png.toString('base64')}`
    expect(parseStatusReply(JSON.stringify({ favicon }), png).favicon).toBe(png)
    expect(parseStatusReply(JSON.stringify({ favicon }), Buffer.from('other')).favicon).toEqual(png)
  })

  it.each([
    ['null', 'null'],
    ['[]', 'an array'],
    ['"x"', 'a string'],
    ['7', 'a number'],
  ])('of %s is refused', (json, kind) =>
    expect(() => parseStatusReply(json)).toThrow(`the status reply is ${kind}, expected a JSON object`),
  )

  it('keeps at most 1,000 of 20,000 players', () => {
    const sample = Array.from({ length: 20_000 }, (_, index) => ({ name: `P${index}`, id }))
    expect(parse({ players: { online: 20_000, sample } }).players?.players).toHaveLength(1_000)
  })
})

describe('a hostile status reply', () => {
  it.each(Object.entries(hostileReplies))('of %s is read with bounded texts, or refused', (_, make) => {
    let reply: StatusReply
    try {
      reply = parseStatusReply(make())
    } catch (error) {
      expect(error).toMatchObject({ name: 'ProtocolError', code: 'malformed' })
      return
    }
    expect(reply.motd?.length ?? 0).toBeLessThanOrEqual(8_192)
    expect(JSON.stringify(reply).length).toBeLessThan(150_000)
  })

  it('that is nested too deep is refused with the reason', () => {
    expect(() => parseStatusReply('{"a":'.repeat(200_000))).toThrow('the status reply is nested deeper than 512 levels')
  })

  it('with an endless message still has its version', () => {
    const description = nestedTranslate(20, 20, '')
    expect(parse({ description, version: { name: '1.21.11' } })).toMatchObject({ version: '1.21.11', motd: '' })
  })
})

describe('the icon of an earlier reply', () => {
  const parseAfter = (previous: Buffer, favicon: string) => parseStatusReply(JSON.stringify({ favicon }), previous).favicon

  it('is returned again if it is the same', () => {
    const previous = Buffer.from(png)
    expect(parseAfter(previous, `data:image/png;base64,${png.toString('base64')}`)).toBe(previous)
  })

  it('is replaced by another one', () => {
    expect(parseAfter(png, 'data:image/jpeg;base64,/9j/')).toEqual(Buffer.from('ffd8ff', 'hex'))
    expect(parseAfter(png, 'https://example.org/icon.png')).toBeUndefined()
  })
})

describe('an invalid status reply', () => {
  it.each(['null', '[]', '5', '"text"', 'true', '', '{', '{"a":}', '\u0000'])('%j', (json) => {
    expect(() => parseStatusReply(json)).toThrow(expect.objectContaining({ name: 'ProtocolError', code: 'malformed' }))
  })
})
