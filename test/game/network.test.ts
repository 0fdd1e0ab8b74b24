import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { addressOfServer, type Network, systemNetwork } from '../../src/game/network.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { freePort } from '../helpers/run-tool.ts'

const loopback = [{ address: '127.0.0.1', family: 4 }]
/** For documentation (RFC 5737): it never answers, or there is no route. */
const silent = [{ address: '192.0.2.1', family: 4 }]

it('connects, and listens to the signal no longer', async () => {
  await using server = await hostileServer(() => {})
  const { signal } = new AbortController()
  const socket = await systemNetwork.connect(loopback, server.port, signal)
  expect(socket.remotePort).toBe(server.port)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  // Nobody listens yet.
  socket.destroy(new Error('reset'))
})

it('rejects with the error of the system', async () => {
  const { signal } = new AbortController()
  await expect(systemNetwork.connect(loopback, await freePort(), signal)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('rejects with the reason of the signal while it connects', async () => {
  const deadline = new AbortController()
  const connecting = systemNetwork.connect(silent, 25565, deadline.signal)
  deadline.abort(new Error('late'))
  await expect(connecting).rejects.toThrow('late')
})

it('opens no connection if it is already aborted', async () => {
  await using server = await hostileServer(() => {})
  await expect(systemNetwork.connect(loopback, server.port, AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
  expect(server.accepted()).toBe(0)
})

it.each<[string, readonly { address: string; family: number }[], Partial<Network>, string | undefined]>([
  ['one IPv4 address', [{ address: '192.0.2.7', family: 4 }], {}, '192.0.2.7'],
  ['several addresses', [...loopback, ...silent], {}, '127.0.0.2'],
  ['an IPv6 address, as the system writes it', [{ address: '0:0::1', family: 6 }], {}, '127.0.0.2'],
  ['an address behind a proxy', [{ address: '192.0.2.7', family: 0 }], { tcpOnly: true }, '192.0.2.7'],
  ['a name behind a proxy', [{ address: 'mc.example', family: 0 }], { tcpOnly: true }, undefined],
  ['nothing behind a proxy', [], { tcpOnly: true }, undefined],
])('the address of a server with %s', (_, addresses, network, expected) => {
  const socket = { remoteAddress: '127.0.0.2' } as Parameters<typeof addressOfServer>[0]
  expect(addressOfServer(socket, addresses, { ...systemNetwork, ...network })).toBe(expected)
})
