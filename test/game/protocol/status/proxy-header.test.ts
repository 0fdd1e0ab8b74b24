import { expect, it } from 'vitest'
import { type ConnectionEnds, encodeProxyHeader } from '../../../../src/game/protocol/status/proxy-header.ts'

const ends = (localAddress: string, remoteAddress: string) => ({
  localAddress,
  localPort: 50_000,
  remoteAddress,
  remotePort: 25_565,
})
const unknown: [v1: string, v2: string] = ['PROXY UNKNOWN\r\n', '0d0a0d0a000d0a515549540a20000000']

it.each<[given: ConnectionEnds, v1: string, v2: string]>([
  [{}, ...unknown],
  [ends('127.0.0.1', '::1'), ...unknown],
  [ends('::1', '127.0.0.1'), ...unknown],
  [ends('', ''), ...unknown],
  [
    ends('192.0.2.1', '198.51.100.2'),
    'PROXY TCP4 192.0.2.1 198.51.100.2 50000 25565\r\n',
    '0d0a0d0a000d0a515549540a2111000cc0000201c6336402c35063dd',
  ],
  [
    ends('fe80::1%eth0', '2001:db8::2'),
    'PROXY TCP6 fe80::1 2001:db8::2 50000 25565\r\n',
    '0d0a0d0a000d0a515549540a21210024fe80000000000000000000000000000120010db8000000000000000000000002c35063dd',
  ],
])('encodes the ends of a connection: %j', (given, v1, v2) => {
  expect(encodeProxyHeader('v1', given).toString('latin1')).toBe(v1)
  expect(encodeProxyHeader('v2', given).toString('hex')).toBe(v2)
})
