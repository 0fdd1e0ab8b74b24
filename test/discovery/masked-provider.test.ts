import { expect, it } from 'vitest'
import { createMaskedProvider } from '../../src/discovery/masked-provider.ts'
import type { ServerList } from '../../src/discovery/provider.ts'

it('masks the secrets of a provider in its lists', () => {
  const address = { edition: 'java', host: 'mc.test', port: 1 } as const
  const list: ServerList = {
    name: 'list.test/targets',
    place: 'http://list.test/targets',
    servers: [
      { name: 'lobby', sources: { status: { address }, rcon: { password: 'the list token' } } },
      { name: 'x THE LIST TOKEN', sources: { status: { address } } },
      { name: 'other', sources: { status: { address: { ...address, host: 'the%20list%20token' } } } },
    ],
    refused: ['target "the list token": expected host:port'],
    error: 'it redirects to the list token',
  }
  const provider = { lists: () => [list], firstRead: Promise.resolve(), async reload() {}, close() {} }
  const [masked] = createMaskedProvider(provider, ['the list token']).lists()
  expect(masked?.servers.map(({ name }) => name)).toEqual(['lobby'])
  expect(masked).toMatchObject({
    refused: ['target "[hidden]": expected host:port', '2 entries contain a secret of this provider'],
    error: 'it redirects to [hidden]',
  })
  const repeated = createMaskedProvider(provider, ['the list token'])
  for (let time = 0; time < 2; time++) {
    const [again] = repeated.lists()
    expect(again).toEqual(masked)
    // Otherwise it would be compared with what it was.
    expect(again?.servers[0]).toBe(list.servers[0])
  }
})
