import { expect, it } from 'vitest'
import { decodeProperties, parseProperties } from '../../../src/game/protocol/server-properties.ts'

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
