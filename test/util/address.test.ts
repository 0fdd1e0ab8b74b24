import { describe, expect, it } from 'vitest'
import { parseHost, parseHostPort, parseServerAddress } from '../../src/util/address.ts'

describe('an international name', () => {
  it.each([
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['MÜNCHEN.example', 'xn--mnchen-3ya.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['play_1.münchen.example.', 'play_1.xn--mnchen-3ya.example.'],
    // Invisible characters of a copied text.
    ['mc\u200b.example.org', 'mc.example.org'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['MC.example.org', 'MC.example.org'],
  ])('%j is %s', (given, host) => {
    expect(parseHost(given)).toBe(host)
    expect(parseHostPort(`${given}:1`, 2)).toEqual({ host, port: 1 })
    expect(parseServerAddress(`bedrock://${given}`)).toEqual({ edition: 'bedrock', host, port: 19132 })
  })

  it.each([
    'mün chen.example',
    'mün/chen.example',
    'münchen%2eexample',
    'mün*chen.example',
    'mün..chen',
    // Numbers that the system would treat as an IP address.
    '１２７.0.0.1',
    '１２７',
    'ü.0x7f',
    `${'ü'.repeat(64)}.example`,
    '\u200b',
    'münchen.example:65536',
    'münchen.example:',
  ])('is refused: %j', (given) => {
    expect(parseHostPort(given, 1)).toBeUndefined()
    expect(parseServerAddress(given)).toBeUndefined()
  })
})

describe('white space around an address', () => {
  it.each([
    [' mc.example.org', 'mc.example.org', 25565],
    ['\tmc.example.org:1\r\n', 'mc.example.org', 1],
    ['\u00a0127.0.0.1:1 ', '127.0.0.1', 1],
    [' [::1]:1 ', '::1', 1],
    [' ::1 ', '::1', 25565],
  ])('is ignored: %j', (given, host, port) => expect(parseServerAddress(given)).toEqual({ edition: 'java', host, port }))

  it('is ignored before the edition', () =>
    expect(parseServerAddress(' bedrock://mc.example.org ')).toEqual({
      edition: 'bedrock',
      host: 'mc.example.org',
      port: 19132,
    }))

  it.each(['', ' ', 'mc.example.org :1', 'mc.example.org: 1', 'a b', '[ ::1 ]'])('is refused within it: %j', (given) =>
    expect(parseServerAddress(given)).toBeUndefined(),
  )
})
