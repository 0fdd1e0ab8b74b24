import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMask } from '../../src/secrets/mask.ts'
import { maskValue } from '../../src/secrets/mask-value.ts'
import { cpuMs } from '../helpers/growth.ts'

const secret = 'Höl/zer "ne"\tBrückeΣ+9'
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
    ['after a character that has two in upper case', `ß${secret}`],
    ['with another sigma', secret.replace('Σ', 'ς')],
  ])('masks a secret %s', (_, text) => {
    expect(createMask([secret])(`before ${text} after`)).toMatch(/^before .{0,3}\[hidden\] after$/)
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

  it('masks a short secret in base64 if six characters depend on it only', () => {
    for (const [short, masked] of [
      ['abcd', 'YWJjZA'],
      ['abcde', '[hidden]U'],
    ] as const) {
      expect(createMask([short])(base64(short).replaceAll('=', ''))).toBe(masked)
    }
    expect(createMask(['abcd'])(base64('..abcd'))).toBe(base64('..abcd'))
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
    const end = (characters: number, cut: string) => mask(cut.padStart(characters, '.')).replaceAll('.', '')
    expect([end(100, 'correc'), end(100, 'corre'), end(99, 'correc')]).toEqual(['[hidden]', 'corre', 'correc'])
    expect(end(100, 'correct-horse-battery')).toBe('[hidden]')
  })

  it('masks the longer one of a secret and the beginning of another that was cut off', () => {
    const mask = createMask(['correct', 'correct-horse-battery', 'correct-horse?'])
    for (const cut of ['correct', 'correct-horse', 'correct-horse-']) expect(mask(cut.padStart(200, ' '))).toMatch(/ \[hidden\]$/)
    expect(createMask(['abcdef"gh', 'abcdefzz'])('abcdef"gh'.padStart(200, ' '))).toMatch(/ \[hidden\]$/)
    expect(mask('correct-horses'.padStart(200, ' '))).toMatch(/ \[hidden\]-horses$/)
  })

  it('masks a short secret only as a word', () => {
    const mask = createMask(['a', '(+)'])
    expect(mask('This server is running a version, (+).')).toBe('This server is running [hidden] version, [hidden].')
    expect(mask('A banana')).toBe('[hidden] banana')
    expect(createMask(['ab'])('%61%62 ab')).toBe('%61%62 [hidden]')
    expect(createMask(['x1É'])('2x1é x1é2 éx1é x1éé x1é')).toBe('2x1é x1é2 éx1é x1éé [hidden]')
    // With a long one too.
    expect(createMask(['a', 'abcd', 'efgh'])('a banana abcdefgh abcd')).toBe('[hidden] banana [hidden][hidden] [hidden]')
  })

  it('takes every character as it is', () => {
    const all = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => index + 32))
    for (const secret of [all, ...[...all].map((character) => character.repeat(4)), ...all]) {
      if (secret.trim() !== '') expect(createMask([secret])(`x ${secret} y`)).not.toContain(` ${secret} `)
    }
  })

  it('masks a secret without letters, percent-encoded, and one without Latin letters', () => {
    expect(createMask(['-+."'])(encodeURIComponent('-+."'))).toBe('[hidden]')
    expect(createMask(['ΟΔΟΣ'])('οδοσ')).toBe('[hidden]')
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

  it('keeps small numbers, fractions, and objects of a class', () => {
    const mask = createMask(['999', '1000', '1000.5', 'secret'])
    const object = new (class {
      readonly text = 'secret'
    })()
    expect(maskValue([999, 1_000, 1_000.5, -1_000, object], mask)).toEqual([999, undefined, 1_000.5, -1_000, object])
    expect(maskValue(Object.assign(Object.create(null), { a: 'secret' }), mask)).toEqual({ a: '[hidden]' })
    expect([undefined, null, true].map((value) => maskValue(value, mask))).toEqual([undefined, null, true])
  })

  it('leaves out what is nested more than 16 deep', () => {
    const nested = (depth: number): unknown => (depth === 0 ? ['a'] : [nested(depth - 1)])
    expect(maskValue(nested(15), mask)).toEqual(nested(15))
    expect(JSON.stringify(maskValue(nested(16), mask))).toBe(`${'['.repeat(16)}null${']'.repeat(16)}`)
    const errors = Array.from({ length: 3 }, () => new Error('12345678'))
    errors.reduce((outer, cause) => Object.assign(outer, { cause }) && cause)
    maskValue(errors[0], mask, 2)
    expect(errors.map(({ message }) => message)).toEqual(['[hidden]', '[hidden]', '12345678'])
  })

  it('masks errors in place, with their stacks, and changes nothing else that it is given', () => {
    const error = Object.assign(new Error('failed: 12345678'), { code: '12345678', name: '12345678' })
    expect(error.stack).toContain('12345678')
    expect(maskValue(error, mask)).toBe(error)
    expect(error).toMatchObject({ message: 'failed: [hidden]', code: '12345678', name: '12345678' })
    expect(error.stack).not.toContain('failed: 12345678')
    const frozen = Object.freeze(new Error('nothing'))
    expect(maskValue(frozen, mask)).toBe(frozen)
    const value = { '12345678': 'x', list: [{ text: '12345678' }] }
    expect(maskValue({ '12345678': 'x' }, mask)).toEqual({ '[hidden]': 'x' })
    expect(maskValue(value, mask)).toEqual({ '[hidden]': 'x', list: [{ text: '[hidden]' }] })
    expect(value).toEqual({ '12345678': 'x', list: [{ text: '12345678' }] })
  })

  it('searches bytes once for each mask', () => {
    const bytes = Buffer.from('icon')
    const counting = vi.fn(mask)
    for (let count = 0; count < 2; count++) expect(maskValue(bytes, counting)).toBe(bytes)
    expect(counting).toHaveBeenCalledTimes(1)
    expect(maskValue(bytes, createMask(['icon']))).toBeUndefined()
  })

  it('masks an error and its causes in place', () => {
    const cause = Object.assign(new Error('12345678'), { code: 'E12345678', body: { message: '12345678' } })
    const error = new Error('failed: 12345678', { cause })
    expect(maskValue(error, mask)).toBe(error)
    expect(error.message).toBe('failed: [hidden]')
    expect(error.stack).toContain('failed: [hidden]\n')
    expect(error.stack).not.toContain('12345678')
    expect(cause).toMatchObject({ message: '[hidden]', code: 'E12345678', body: { message: '[hidden]' } })
    const all = new AggregateError([new Error('12345678')], 'all')
    const { stack } = all
    maskValue(all, mask)
    expect((all.errors[0] as Error).message).toBe('[hidden]')
    expect(all.stack).toBe(stack)
  })
})
