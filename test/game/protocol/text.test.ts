import { describe, expect, it } from 'vitest'
import { createTextReader, plainText, stripFormatting } from '../../../src/game/protocol/text.ts'
import { cpuMs } from '../../helpers/growth.ts'
import { nestedTranslate } from '../../helpers/hostile-replies.ts'

const formattedText = (component: unknown, limit?: number) => createTextReader()(component, limit).formatted

describe('plain text of a component', () => {
  it.each<[string, unknown, string]>([
    ['a string', 'A Minecraft Server', 'A Minecraft Server'],
    ['formatting codes', '§aGreen §lbold§r plain', 'Green bold plain'],
    ['hexadecimal colours', '§x§f§f§0§0§a§aHello', 'Hello'],
    ['a code at the very end', 'end§', 'end'],
    ['a code before a line break', 'one§\ntwo', 'one\ntwo'],
    ['line breaks of every kind', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['an object', { text: 'Hello', color: 'red' }, 'Hello'],
    ['nested extra', { text: 'a', extra: ['b', { text: 'c', extra: [{ text: 'd' }] }, 'e'] }, 'abcde'],
    ['a list', ['a', { text: 'b' }, ['c', 'd']], 'abcd'],
    ['a list in extra', { extra: [['a', 'b'], 'c'] }, 'abc'],
    ['numbers and booleans', { text: 1, extra: [true, 2.5] }, '1true2.5'],
    ['a key without translation', { translate: 'multiplayer.disconnect.generic' }, 'multiplayer.disconnect.generic'],
    ['a fallback', { translate: 'my.key', fallback: 'Welcome' }, 'Welcome'],
    ['arguments in order', { translate: 'k', fallback: '%s of %s (100%%)', with: ['1', { text: '2' }] }, '1 of 2 (100%)'],
    ['arguments by number', { translate: 'k', fallback: '%2$s %1$s %3$s!', with: ['a', 'b'] }, 'b a !'],
    ['a keybind', { keybind: 'key.jump' }, 'key.jump'],
    ['a score', { score: { name: 'x', objective: 'y', value: '7' } }, '7'],
    ['a selector', { selector: '@p' }, '@p'],
    ['the compact form', { '': 'compact' }, 'compact'],
    ['control characters', { text: 'a\u0000b\u001b[31mc\td\u0085e\u007f' }, 'ab[31mc de'],
    ['changes of the writing direction', '\u202eevil\u202c \u2066x\u2069 \u202ay\u202b\u202d\u2067\u2068', 'evil x y'],
    ['halves of surrogate pairs', '\ud83dx\ude00 \u{1f600}', '\ufffdx\ufffd \u{1f600}'],
    ['letters of other scripts', '\u05e9\u05dc\u05d5\u05dd \u{1f600}', '\u05e9\u05dc\u05d5\u05dd \u{1f600}'],
    ['null', null, ''],
    ['what is no component', { text: { no: 1 }, extra: 'neither' }, ''],
  ])('%s', (_, component, text) => {
    expect(plainText(component)).toBe(text)
  })

  it('is truncated at its limit', () => {
    expect(plainText('x'.repeat(10_000), 100)).toHaveLength(100)
    expect(plainText({ extra: Array.from({ length: 100_000 }, () => 'ab') }, 101)).toHaveLength(101)
  })

  it('survives endless nesting', () => {
    const json = `${'{"text":"x","extra":['.repeat(80_000)}${']}'.repeat(80_000)}`
    expect(plainText(JSON.parse(json))).toMatch(/^x{10,200}$/)
    const translated = `${'{"translate":"%s%s","with":['.repeat(50_000)}${']}'.repeat(50_000)}`
    expect(plainText(JSON.parse(translated))).toBe('')
  })

  it('does not grow exponentially with repeated arguments', () => {
    let component: unknown = 'boom'
    for (let level = 0; level < 60; level++) component = { translate: '', fallback: '%1$s%1$s', with: [component] }
    expect(plainText(component).length).toBeLessThanOrEqual(8_192)
    let empty: unknown = ''
    for (let level = 0; level < 60; level++) empty = { translate: '', fallback: '%1$s%1$s', with: [empty] }
    expect(plainText(empty)).toBe('')
  })
})

describe('the work for the components of one reply', () => {
  /** The most that a component of one reply may cause. */
  const maxWork = 65_536
  const repeated = (times: number, ...args: unknown[]) => ({ translate: '%1$s'.repeat(times), with: args })

  it('counts each use of a component', () => {
    let reads = 0
    const leaf = {
      get text() {
        reads++
        return ''
      },
    }
    createTextReader()(repeated(100_000, Array(1_000).fill(leaf)))
    expect(reads).toBeGreaterThan(10_000)
    expect(reads).toBeLessThan(maxWork)
  })

  it('does not grow with arguments that are nested too deep', () => {
    const duration = (times: number) => {
      const component = nestedTranslate(131, times, 'x', 4)
      const started = cpuMs()
      for (let time = 0; time < 3; time++) createTextReader()(component)
      return cpuMs() - started
    }
    const least = (times: number) => Math.min(...[0, 1, 2, 3, 4].map(() => duration(times)))
    // Without a limit, it grows with the square of the number.
    expect(least(1_600) / least(100)).toBeLessThan(8)
  })

  it('is limited for all of them', () => {
    const readText = createTextReader()
    expect(readText(['a', 'b'])).toEqual({ plain: 'ab', formatted: 'ab' })
    expect(readText(repeated(100_000, ''))).toEqual({ plain: '', formatted: '' })
    expect(readText('c')).toEqual({ plain: '', formatted: '' })
    const another = createTextReader()
    for (let count = 0; count < 7; count++) expect(another('x'.repeat(9_000)).plain).toHaveLength(8_192)
    expect(another('x'.repeat(9_000)).plain.length).toBeLessThan(8_192)
  })

  it('includes the codes of styles', () => {
    const extra = Array.from({ length: 8_000 }, (_, index) => ({ text: 'x', bold: true, color: `#${100_000 + index}` }))
    expect(formattedText({ extra }).length).toBeLessThan(2 * maxWork)
    expect(formattedText({ extra: extra.slice(0, 2_000) })).toHaveLength(2_000 * '§r§#123456§lx'.length - 2)
  })

  it('suffices for the longest reply that the game accepts', () => {
    const words = Array.from({ length: 2_700 }, (_, index) => `w${String(index).padStart(4, '0')}`)
    const description = { text: '', extra: words }
    expect(JSON.stringify(description).length).toBeLessThan(32_767)
    expect(createTextReader()(description, 20_000).formatted).toBe(words.join(''))
  })
})

it('names of properties that every object has are not colours', () => {
  expect(formattedText(['constructor', '__proto__', 'toString'].map((color) => ({ text: 'x', color })))).toBe('xxx')
})

it('strips formatting from a surrogate pair as a whole', () => {
  expect(stripFormatting('§🙂a')).toBe('a')
})

describe('text of a component with formatting codes', () => {
  it.each<[string, unknown, string]>([
    ['a string as it is', '§aGreen §lbold', '§aGreen §lbold'],
    ['a colour', { text: 'Hello', color: 'red' }, '§cHello'],
    ['a colour of six digits', { text: 'Hello', color: '#12AB34' }, '§#12ab34Hello'],
    ['an unknown colour', { text: 'Hello', color: 'mauve' }, 'Hello'],
    ['a colour of another form', { text: 'Hello', color: 7 }, 'Hello'],
    [
      'every format',
      { text: 'x', obfuscated: true, bold: true, strikethrough: true, underlined: true, italic: true },
      '§k§l§m§n§ox',
    ],
    ['a format that is no boolean', { text: 'x', bold: 'true' }, 'x'],
    ['pieces of the same style', { text: 'a', extra: ['b', 'c'] }, 'abc'],
    ['what a child inherits', { text: 'a', color: 'gold', bold: true, extra: [{ text: 'b', italic: true }] }, '§6§la§r§6§l§ob'],
    ['what a child switches off', { text: 'a', bold: true, extra: [{ text: 'b', bold: false }, 'c'] }, '§la§rb§r§lc'],
    ['codes within a piece, which end with it', [{ text: '§cred' }, 'plain'], '§cred§rplain'],
    ['a style of an empty text', { text: '', color: 'green', extra: ['a'] }, '§aa'],
    ['line breaks of every kind', { text: 'a\r\nb\rc', color: 'aqua' }, '§ba\nb\nc'],
    ['halves of surrogate pairs', ['\ud83dx', { text: '\ude00', color: 'red' }], '\ufffdx§r§c\ufffd'],
    ['null', null, ''],
  ])('%s', (_, component, text) => {
    expect(formattedText(component)).toBe(text)
  })

  it('is the plain text once the codes are removed, and no longer than the limit', () => {
    const component = { text: 'ab', color: 'red', extra: [{ text: 'cd', bold: true }, '§eef', ['gh']] }
    expect(stripFormatting(formattedText(component))).toBe(plainText(component))
    expect(formattedText(component, 3)).toBe('§cab§r§c§lc')
    expect(formattedText({ text: 'x'.repeat(10_000) })).toHaveLength(8_192)
  })
})

describe('the limits of a component', () => {
  const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [nested(depth - 1, inner)])
  const scores = (depth: number, inner: unknown): unknown =>
    depth === 0 ? inner : { score: { value: scores(depth - 1, inner) } }

  it('are 128 levels, and what follows a deeper one is read', () => {
    expect(plainText([nested(127, 'deep'), ' after'])).toBe('deep after')
    expect(plainText([nested(128, 'deep'), 'after'])).toBe('after')
    expect(plainText([scores(127, 'deep'), ' after'])).toBe('deep after')
    expect(plainText([scores(128, 'deep'), 'after'])).toBe('after')
  })

  it.each(['#12ab345', '#12ab3', 'x#12ab34', '#12ab3g', ['#12ab34']])('a colour is not %j', (color) =>
    expect(createTextReader()({ text: 'a', color }).formatted).toBe('a'),
  )

  it.each([
    [{ text: true }, 'true'],
    [{ text: 0 }, '0'],
    [{ text: null, keybind: 'key' }, 'key'],
    [{ translate: '%12$s', with: [...Array(11).fill('no'), 'yes'] }, 'yes'],
    [{ translate: 'a%sb', with: 'no list' }, 'ab'],
    [{ translate: 'a%sb' }, 'ab'],
  ])('%j is %j', (component, expected) => expect(plainText(component)).toBe(expected))

  it('end the text exactly', () => {
    expect(plainText(['abc', 'def', 'ghi'], 6)).toBe('abcdef')
    expect(plainText(['abc', 'def', 'ghi'], 7)).toBe('abcdefg')
    expect(plainText({ translate: '%s-%s', with: ['abc', 'def'] }, 4)).toBe('abc-')
    expect(plainText({ translate: 'ab%scd', with: [''] }, 2)).toBe('ab')
  })
})
