import { describe, expect, it } from 'vitest'
import { decodeChallenge, decodeFullStat, encodeFullStat, isReply, toSession } from '../../../src/game/protocol/query.ts'

const session = 0x01020304
const datagram = (type: number, body: string | Buffer) =>
  Buffer.concat([Buffer.from([type, 1, 2, 3, 4]), typeof body === 'string' ? Buffer.from(body, 'latin1') : body])
const challenge = (body: string | Buffer) => decodeChallenge(datagram(9, body))

describe('a reply', () => {
  it('is one of the same type and session', () => {
    expect(isReply(datagram(9, ''), 9, session)).toBe(true)
    expect(isReply(datagram(9, 'more'), 9, session)).toBe(true)
    expect(isReply(datagram(0, ''), 9, session)).toBe(false)
    expect(isReply(datagram(9, ''), 9, session + 1)).toBe(false)
    expect(isReply(datagram(0, ''), 9, session + 1)).toBe(false)
    expect(isReply(datagram(9, '').subarray(0, 4), 9, session)).toBe(false)
    expect(isReply(Buffer.alloc(0), 0, 0)).toBe(false)
  })

  it('has a session of which the server keeps every bit', () => expect(toSession(0xffffffff)).toBe(0x0f0f0f0f))
})

describe('a challenge', () => {
  it.each([
    ['9513307\0', 9_513_307],
    ['9513307', 9_513_307],
    ['-5\0', -5],
    ['-123', -123],
    ['1234', 1_234],
    ['1234\0', 1_234],
    ['1\0\0\0', 1],
    ['2147483647\0', 2_147_483_647],
    ['-2147483648\0', -2_147_483_648],
    ['42\0odd', 42],
  ])('%j has digits', (body, value) => expect(challenge(body)).toEqual({ value, isRaw: false }))

  it.each([
    [[0x12, 0x34, 0x56, 0x78], 0x12345678],
    [[0x12, 0x34, 0x56, 0x78, 0], 0x12345678],
    [[0xff, 0xff, 0xff, 0xfe], -2],
    [[0x31, 0x32, 0x33, 0x41], 0x31323341],
    [[0x41, 0x31, 0x32, 0x33], 0x41313233],
  ])('%j has four bytes, with or without a NUL after them', (body, value) =>
    expect(challenge(Buffer.from(body))).toEqual({ value, isRaw: true }),
  )

  it.each(['', '\0', 'abc', '12x456', 'x12345', '2147483648\0', '-2147483649\0', '12345678901', 'abcde', '--12345'])(
    'is not understood: %j',
    (body) =>
      expect(() => challenge(body)).toThrow(
        expect.objectContaining({ code: 'malformed', message: 'the token is not a 32-bit number' }),
      ),
  )

  it('is sent back as four bytes, with four more, or eight if it was raw', () => {
    expect(encodeFullStat(session, { value: -2, isRaw: false }).toString('hex')).toBe('fefd0001020304fffffffe00000000')
    expect(encodeFullStat(session, { value: -2, isRaw: true }).toString('hex')).toBe('fefd0001020304fffffffe0000000000000000')
  })
})

const full = (values: readonly string[], names: readonly string[] = [], name = 'splitnum') =>
  decodeFullStat(
    datagram(0, `${name}\0\x80\0${values.join('\0')}\0\0\x01player_\0\0${names.map((one) => `${one}\0`).join('')}\0`),
  )

describe('a full stat', () => {
  it('has the values of its keys, in any order', () => {
    const values = [
      'map',
      'world',
      'numplayers',
      '2',
      'maxplayers',
      '20',
      'version',
      '1.21.11',
      'hostname',
      'Hi',
      'game_id',
      'MINECRAFT',
    ]
    expect(full(values, ['Alice', 'Bob'])).toEqual({
      ...{
        edition: 'java',
        motd: 'Hi',
        version: '1.21.11',
        map: 'world',
        online: 2,
        max: 20,
        names: ['Alice', 'Bob'],
        complete: true,
      },
    })
  })

  it('may have NULs in its MOTD, which ends before the next key', () => {
    expect(full(['hostname', 'a', 'map', 'gametype', 'SMP'])).toMatchObject({ motd: 'a\0map' })
    expect(full(['hostname', 'a', 'b', 'gametype', 'SMP', 'map', 'w'])).toMatchObject({ motd: 'a\0b', map: 'w' })
  })

  it('ignores a value without a key, and a key without a value', () => {
    expect(full(['', 'x', 'map', 'w'])).toMatchObject({ map: 'w' })
    expect(full(['map', 'w', 'version'])).not.toHaveProperty('version')
    expect(() => full(['', 'x'])).toThrow('the full stat has no values')
  })

  it.each([
    ['1.8.9', 'Â§'],
    ['1.21.10', 'Â§'],
    ['1.20.11', 'Â§'],
    ['1.21', 'Â§'],
    ['1.21.11', '§'],
    ['1.22', '§'],
    ['26.1', '§'],
    ['Paper 26.1', '§'],
    ['unknown', '§'],
  ])('of version %s has the text %s', (version, motd) =>
    expect(full(['hostname', '\xc2\xa7', 'version', version])).toMatchObject({ motd }),
  )

  it('is read as it is if it is not UTF-8', () =>
    expect(full(['hostname', '\xa7', 'version', '26.1'])).toMatchObject({ motd: '§' }))

  it.each([
    ['Paper on Bukkit 1.21.4-R0.1-SNAPSHOT: LuckPerms 5.4; Vault 1.7', 'Paper', ['LuckPerms 5.4', 'Vault 1.7']],
    ['Paper on Bukkit 1.21.4-R0.1-SNAPSHOT:A 1;B 2;  C 3', 'Paper', ['A 1', 'B 2', 'C 3']],
    ['PocketMine-MP 5.39.0', 'PocketMine-MP', []],
    ['Some Server', 'Some Server', []],
    ['Very Long on Name', 'Very Long on Name', []],
    ['A on B: C: D', 'A', ['C: D']],
    ['', undefined, []],
  ])('has the plugins %j', (plugins, software, list) => {
    const { software: found, plugins: names, ...rest } = full(['map', 'w', 'plugins', plugins])
    expect([found, names]).toEqual([software, list])
    expect('software' in full(['map', 'w', 'plugins', plugins])).toBe(software !== undefined)
    expect(rest).toMatchObject({ map: 'w' })
  })

  it('is of a Bedrock server if its game id, or Geyser, says so', () => {
    expect(full(['game_id', 'MINECRAFTPE'])).toMatchObject({ edition: 'bedrock' })
    expect(full(['game_id', 'MINECRAFT'], [], 'GeyserMC')).toMatchObject({ edition: 'bedrock', software: 'Geyser' })
  })

  it.each(['x', '-1', '1.5', '1234567890', ' 1', ''])('has no number of players if that is %j', (online) =>
    expect(full(['map', 'w', 'numplayers', online])).not.toHaveProperty('online'),
  )

  it('that is truncated has the values and names before, and is not complete', () => {
    const head = 'splitnum\0\x80\0'
    const cut = (text: string) => decodeFullStat(datagram(0, head + text))
    expect(cut('map\0w\0version\x001.2')).toEqual({ edition: 'java', map: 'w', names: [], complete: false })
    expect(cut('map\0w\0vers')).toEqual({ edition: 'java', map: 'w', names: [], complete: false })
    expect(cut('map\0w\0\0\x01player_\0\0Alice\0Bo')).toMatchObject({ names: [], complete: false })
  })
})

describe('a basic stat', () => {
  const basic = (text: string) => decodeFullStat(datagram(0, text))
  it('is read although the full one was requested', () =>
    expect(basic('Hi\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0')).toEqual({
      ...{ motd: 'Hi', map: 'world', online: 2, max: 20, names: [], complete: false },
    }))

  it.each(['', 'Hi', 'Hi\0SMP\0world\x002\x0020', 'Hi\0SMP\0world\0x\x0020\0rest', 'Hi\0SMP'])('is not understood: %j', (text) =>
    expect(() => basic(text)).toThrow(
      expect.objectContaining({ code: 'malformed', message: 'the stat is neither a full nor a basic one' }),
    ),
  )
})
