import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMask } from '../../src/secrets/mask.ts'
import { maskValue } from '../../src/secrets/mask-value.ts'
import { cpuMs } from '../helpers/growth.ts'

const secret = 'Höl/zer "ne" Brücke+9'
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('createMask', () => {
  it.each([
    ['as it is', secret],
    ['in another case', secret.toUpperCase()],
    ['percent-encoded', encodeURIComponent(secret)],
    ['with every byte percent-encoded', Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&')],
    ['as a form', new URLSearchParams([['', secret]]).toString().slice(1)],
    ['as a string of JSON', JSON.stringify(secret).slice(1, -1)],
    ['with formatting codes', `§l${secret.slice(0, 5)}§r§#12ab34${secret.slice(5)}`],
    ['after a character that has two in lower case', `\u0130\u0130${secret}`],
  ])('masks a secret %s', (_, text) => {
    expect(createMask([secret])(`before ${text} after`)).toMatch(/^before .{0,3}\[hidden\] after$/)
  })

  it('masks each of three secrets of 10,000 servers', () => {
    const secrets = Array.from({ length: 30_000 }, (_, index) => `${index}-Pa55word-${index}`)
    expect(createMask(secrets)(`before ${secrets[29_999]} after`)).toBe('before [hidden] after')
  })

  it('takes no longer for ten times as many secrets that begin alike', () => {
    const text = `"password of server "${'pass'.repeat(10_000)}`
    const times = [3_000, 30_000].map((length) => {
      const mask = createMask(Array.from({ length }, (_, index) => `password of server ${index}`))
      const runs = Array.from({ length: 3 }, () => {
        const start = cpuMs()
        expect(mask(text)).toBe(`"[hidden]"${'pass'.repeat(10_000)}`)
        return cpuMs() - start
      })
      return Math.min(...runs)
    })
    expect(times[1]).toBeLessThan(5 * times[0]!)
  })

  it('masks the longest of the secrets that begin alike', () => {
    const mask = createMask(['abcd', 'abcdef', 'abcdefgh', 'abcdeg', 'abcdzz'])
    expect(mask('abcdefghi abcdefgi abcdfg abcdegg abcdzz')).toBe('[hidden]i [hidden]gi [hidden]fg [hidden]g [hidden]')
  })

  it.each(['', 'u', 'us', 'use', 'user'])('masks a secret in base64, after a user name with %j', (user) => {
    for (const text of [`${user}:${secret}`, `${user}:${secret}x`]) {
      for (const encoded of [base64(text), Buffer.from(text).toString('base64url')]) {
        const masked = createMask([secret])(`Basic ${encoded}`)
        expect(masked).toContain('[hidden]')
        expect(masked.length).toBeLessThan('Basic [hidden]'.length + 12)
      }
    }
  })

  it('masks all of overlapping secrets, and every occurrence', () => {
    const mask = createMask(['one two three', 'three four', 'two'])
    expect(mask('one two three four, ONE TWO THREE, twofold')).toBe('[hidden], [hidden], twofold')
  })

  it('masks what remains of a secret that was cut off', () => {
    const mask = createMask(['correct-horse-battery'])
    const long = '.'.repeat(100)
    expect(mask(`${long}correct-ho`)).toBe(`${long}[hidden]`)
    expect(mask(`"${long}correct-ho"; is this right?`)).toBe(`"${long}[hidden]"; is this right?`)
    for (const text of [`${long}correct-ho here`, `${long}corr`, 'correct-ho']) expect(mask(text)).toBe(text)
  })

  it('masks a short secret only as a word', () => {
    const mask = createMask(['a', '(+)'])
    expect(mask('This server is running a version, (+).')).toBe('This server is running [hidden] version, [hidden].')
    expect(mask('A banana')).toBe('[hidden] banana')
  })

  it('takes every character as it is', () => {
    const all = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => index + 32))
    for (const secret of [all, ...[...all].map((character) => character.repeat(4)), ...all]) {
      if (secret.trim() !== '') expect(createMask([secret])(`x ${secret} y`)).not.toContain(` ${secret} `)
    }
  })

  it('returns other texts unchanged, and its own result', () => {
    const mask = createMask(['hunter2hunter2', 'hidden', ' ', ''])
    for (const text of ['', 'hunter2', '§c hunter2 hidden', '   ']) expect(mask(text)).toBe(text)
    const masked = mask('x hunter2hunter2')
    expect(mask(masked)).toBe(masked)
  })

  it('compares only what begins like a secret, whatever the number of secrets', () => {
    const mask = createMask(Array.from({ length: 5_000 }, (_, index) => `${index * 7_919} is a secret`))
    const comparison = vi.spyOn(String.prototype, 'startsWith')
    onTestFinished(() => comparison.mockRestore())
    const text = 'an ordinary line of the log, with nothing in it that is not known to all. '.repeat(100)
    expect(mask(text)).toBe(text)
    expect(comparison.mock.calls.length).toBeLessThan(text.length / 2)
  })
})

describe('maskValue', () => {
  const mask = createMask(['12345678'])

  it('keeps what has no secret', () => {
    const value = { list: [{ a: 'b' }, 1, null], bytes: Buffer.from('icon') }
    expect(maskValue(value, mask)).toBe(value)
  })

  it('masks texts, keys, numbers and bytes', () => {
    const value = { a: ['12345678'], 'x 12345678': 1, number: 12_345_678, other: 123_456_789, icon: Buffer.from('-12345678-') }
    expect(maskValue(value, mask)).toEqual({
      a: ['[hidden]'],
      'x [hidden]': 1,
      number: undefined,
      other: 123_456_789,
      icon: undefined,
    })
  })

  it('masks an error and its causes in place', () => {
    const cause = Object.assign(new Error('12345678'), { code: 'E12345678', body: { message: '12345678' } })
    const error = new Error('failed: 12345678', { cause })
    expect(maskValue(error, mask)).toBe(error)
    expect(error.message).toBe('failed: [hidden]')
    expect(error.stack).not.toContain('12345678')
    expect(cause).toMatchObject({ message: '[hidden]', code: 'E12345678', body: { message: '[hidden]' } })
    const all = new AggregateError([new Error('12345678')], 'all')
    maskValue(all, mask)
    expect((all.errors[0] as Error).message).toBe('[hidden]')
  })
})
