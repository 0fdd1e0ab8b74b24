import { expect, it } from 'vitest'
import { secretsOf } from '../../src/secrets/secrets-of.ts'
import { text } from '../../src/settings/kinds/text.ts'

const url = { env: 'URL', meaning: '', kind: text }
const secret = { ...url, env: 'SECRET', secret: true } as const

it.each([
  ['a', ['a']],
  [
    ['a', 'b://c:d@e'],
    ['a', 'b://c:d@e'],
  ],
  [undefined, []],
])('of the value %j of a secret setting are %j', (value, secrets) => {
  expect(secretsOf({ secret }, { secret: value, other: 'x' })).toEqual(secrets)
})

it.each([
  ['a', []],
  [7, []],
  [null, []],
  ['https://a.test/', ['']],
  ['https://user:pass%20word@a.test/', ['pass word']],
  ['https://t%25oken@a.test/', ['t%oken']],
  ['https://:%zz@a.test/', ['%zz']],
  ['https://a.test/?key=b&x=c&authToken=d&SIG=e&Password=f&client_secret=g', ['', 'b', 'd', 'e', 'f', 'g']],
  [['http://a@b.test', 'c'], ['a']],
  ['https://', []],
  ['mailto:a?key=b', []],
  [{ username: 'a', password: 'b' }, ['b']],
  [{ password: 5 }, []],
])('of the value %j of another setting are %j', (value, secrets) => {
  expect(secretsOf({ url }, { url: value })).toEqual(secrets)
})
