import { expect, it } from 'vitest'
import { createUpstreamMask, maskOfRequest } from '../../../src/data/scripts/mask-upstream.ts'
import { maskValue } from '../../../src/secrets/mask-value.ts'

it('masks what is named as a secret, and nothing else', () => {
  const mask = createUpstreamMask([])
  expect(mask('?api_key=abc&api_sig=d41d8&sk=x1&token=t&artist=IU&access_token=a.b')).toBe(
    '?api_key=[hidden]&api_sig=[hidden]&sk=[hidden]&token=[hidden]&artist=IU&access_token=[hidden]',
  )
  expect(mask('{"refresh_token": "abc", "client_secret":"def", "error": "invalid_token"}')).toBe(
    '{"refresh_token": "[hidden]", "client_secret":"[hidden]", "error": "invalid_token"}',
  )
  expect(mask('Authorization: Bearer abc.def-1')).toBe('Authorization: Bearer [hidden]')
  const ordinary = 'the reply of the token service has no token; Secret: a song; Basic, risk=low, "code":"ECONNREFUSED"'
  expect(mask(ordinary)).toBe(ordinary)
})

it('masks in a reply the secrets of the request', () => {
  const mask = maskOfRequest({
    form: { artist: 'An artist', sk: 'session-key', api_sig: '0123456789abcdef', code: 'a-one-time-code' },
    query: { token: 'query-token', password: 'a Basic password' },
    headers: { authorization: 'Bearer bearer-token', accept: 'application/json' },
  })
  const reply = {
    message: 'An artist session-key 0123456789abcdef a-one-time-code query-token bearer-token a Basic password application/json',
    list: ['x session-key', 'Bearer x', 6, null],
    deep: { a: { b: { c: { d: 'left out' } } } },
  }
  expect(maskValue(reply, mask, 4)).toEqual({
    message: 'An artist [hidden] [hidden] [hidden] [hidden] [hidden] [hidden] application/json',
    list: ['x [hidden]', 'Bearer x', 6, null],
    deep: { a: { b: { c: undefined } } },
  })
})

it('bears a reply that is nested deeply', () => {
  const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as unknown
  expect(() => maskValue(deep, (text) => text)).not.toThrow()
})
