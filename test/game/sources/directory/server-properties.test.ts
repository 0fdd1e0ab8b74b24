import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeProperties, integerIn, parseProperties } from '../../../../src/game/sources/directory/server-properties.ts'

it.each([
  ['key=value', { key: 'value' }],
  ['key:value', { key: 'value' }],
  ['key value', { key: 'value' }],
  ['  key \t=  two words ', { key: 'two words ' }],
  ['key', { key: '' }],
  ['key=', { key: '' }],
  ['=value', { '': 'value' }],
  ['a=1\r\nb=2\rc=3\n\n', { a: '1', b: '2', c: '3' }],
  ['#a=1\n ! b=2\nc=3', { c: '3' }],
  ['motd=\\u00A7aHi\\: \\\\ \\=\\t\\x', { motd: '§aHi: \\ =\tx' }],
  ['my\\ key\\=x=1', { 'my key=x': '1' }],
  ['a=one \\\n   two\nb=3', { a: 'one two', b: '3' }],
  ['a=one\\\\\nb=3', { a: 'one\\', b: '3' }],
  ['a=one\\\n#b', { a: 'one#b' }],
  ['a=1\na=2', { a: '2' }],
  ['a=b=c:d', { a: 'b=c:d' }],
  ['rcon.password=p\\u0023ss', { 'rcon.password': 'p#ss' }],
  ['a=\\u12', { a: 'u12' }],
  ['a=x\\', { a: 'x' }],
])('reads %j as Java does', (text, values) => {
  expect(Object.fromEntries(parseProperties(text))).toEqual(values)
})

it('decodes UTF-8, or ISO-8859-1 if it is not valid UTF-8', () => {
  expect(decodeProperties(Buffer.from('motd=☃'))).toBe('motd=☃')
  expect(decodeProperties(Buffer.from('motd=é', 'latin1'))).toBe('motd=é')
})

it.each([
  ['2147483647', 2_147_483_647],
  ['+20', 20],
  ['-2147483648', -2_147_483_648],
  [' 0000000020 ', 20],
  ['2147483648', undefined],
  ['12345678901', undefined],
  ['1e3', undefined],
  ['', undefined],
])('reads the integer %j', (text, value) => {
  expect(integerIn(new Map([['max-players', text]]), 'max-players', -(2 ** 31), 2 ** 31 - 1)).toBe(value)
})

/** The algorithm of `java.util.Properties.load`, character by character. */
function loadLikeJava(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  const isBlank = (character: string) => character === ' ' || character === '\t' || character === '\f'
  const isEnd = (character: string) => character === '\n' || character === '\r'
  const skipEnd = (at: number) => at + (text.startsWith('\r\n', at) ? 2 : 1)
  const convert = (encoded: string) => {
    let result = ''
    for (let at = 0; at < encoded.length; at++) {
      const escaped = encoded[at] === '\\' ? (encoded[++at] ?? '') : undefined
      const hex = encoded.slice(at + 1, at + 5)
      if (escaped === undefined) result += encoded[at]
      else if (escaped === 'u' && /^[0-9a-f]{4}$/i.test(hex)) {
        result += String.fromCharCode(Number.parseInt(hex, 16))
        at += 4
      } else result += { t: '\t', n: '\n', r: '\r', f: '\f' }[escaped] ?? escaped
    }
    return result
  }
  const store = (line: string) => {
    let end = 0
    while (end < line.length && !isBlank(line[end]!) && line[end] !== '=' && line[end] !== ':') end += line[end] === '\\' ? 2 : 1
    let start = end
    let hasSeparator = false
    for (; start < line.length; start++) {
      if (isBlank(line[start]!)) continue
      if (hasSeparator || (line[start] !== '=' && line[start] !== ':')) break
      hasSeparator = true
    }
    values[convert(line.slice(0, end))] = convert(line.slice(start))
  }
  let line = ''
  let isEscaped = false
  let isIndent = true
  for (let at = 0; at < text.length; ) {
    const character = text[at]!
    if (isIndent && isBlank(character)) at++
    else if (line === '' && isEnd(character)) at++
    else if (line === '' && isIndent && (character === '#' || character === '!')) {
      while (at < text.length && !isEnd(text[at]!)) at++
    } else if (isEnd(character)) {
      at = skipEnd(at)
      if (isEscaped) line = line.slice(0, -1)
      else {
        store(line)
        line = ''
      }
      isEscaped = false
      isIndent = true
    } else {
      isIndent = false
      isEscaped = character === '\\' && !isEscaped
      line += character
      at++
    }
  }
  if (isEscaped) line = line.slice(0, -1)
  if (line !== '') store(line)
  return values
}

it('reads any text as Java does', () => {
  const piece = fc.constantFrom(...['a', 'b', '\\', '\\', '\n', '\r', '\r\n', ' ', '\t', '\f', '=', ':', '#', '!', 'u00e9', 't'])
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      expect(Object.fromEntries(parseProperties(text))).toEqual(loadLikeJava(text))
    }),
    { numRuns: 3_000 },
  )
})
