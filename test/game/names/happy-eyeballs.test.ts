import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import { type Network, systemNetwork } from '../../../src/game/network.ts'
import { createQuerySource } from '../../../src/game/sources/query/index.ts'
import type { Source, SourceContext } from '../../../src/game/sources/source.ts'
import { StatusSource } from '../../../src/game/sources/status/index.ts'
import { silentLog } from '../../../src/util/log.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { never } from '../../helpers/never.ts'
import { queryServer } from '../../helpers/query-server.ts'
import { freePort } from '../../helpers/run-tool.ts'
import { until } from '../../helpers/until.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const host = 'mc.example.org'
const [v6, v4] = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
]
const pong = Buffer.concat([
  Buffer.from([0x1c]),
  Buffer.alloc(16),
  Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex'),
  Buffer.from([0, 30]),
  Buffer.from('MCPE;Pocket;70;0.14.3;0;20;1;x'),
])

async function bedrockServer() {
  const socket = createSocket('udp4').on('message', (_, { port, address }) => socket.send(pong, port, address))
  await once(socket.bind(await freePort(), '127.0.0.1'), 'listening')
  closers.push(() => socket.close())
  return socket.address().port
}

/** An IPv6 port that receives datagrams and never replies. */
async function silentAt(port: number) {
  const counts = { datagrams: 0 }
  const socket = createSocket({ type: 'udp6', ipv6Only: true }).on('message', () => counts.datagrams++)
  await once(socket.bind(port, '::1'), 'listening')
  closers.push(() => socket.close())
  return counts
}

const kinds = {
  query: async () => {
    const server = await queryServer()
    closers.push(server.close)
    return server.port
  },
  bedrock: bedrockServer,
}
const makers: Record<keyof typeof kinds, (port: number, context: SourceContext, network: Network) => Source> = {
  query: (port, context, network) => createQuerySource({ host, port }, { ...context, network }),
  bedrock: (port, context, network) => new StatusSource({ edition: 'bedrock', host, port }, { ...context, network }),
}

describe.each(['query', 'bedrock'] as const)('the %s source of a name with several addresses', (kind) => {
  async function subject(addresses: Network['lookup']) {
    const port = await kinds[kind]()
    const clock = manualClock()
    const network = { ...systemNetwork, lookup: addresses }
    const source = makers[kind](port, { clock, log: silentLog, random: () => 0, push() {} }, network)
    closers.push(() => source.close())
    return { port, clock, source }
  }

  it('tries the next address if the first refuses', async () => {
    const { source } = await subject(async () => [v6!, v4!])
    expect((await source.poll(never())).fields.playersMax).toBe(20)
  })

  it.each([
    // The system itself refuses it, as it does an address that it has no route to.
    ['it is unreachable', { address: '255.255.255.255', family: 4 }],
    ['it is link-local', { address: 'fe80::1', family: 6 }],
  ])('tries the next address if one cannot be used: %s', async (_, first) => {
    const { source } = await subject(async () => [first, v4!])
    expect((await source.poll(never())).fields.playersMax).toBe(20)
  })

  it('tries the next address if one does not reply, and prefers the one that did from then on', async () => {
    const { port, clock, source } = await subject(async () => [v6!, v4!])
    const silent = await silentAt(port)
    const first = source.poll(never())
    await until(() => silent.datagrams > 0)
    await clock.advance(250)
    expect((await first).fields.playersMax).toBe(20)
    const { datagrams } = silent
    expect((await source.poll(never())).fields.playersMax).toBe(20)
    expect(silent.datagrams).toBe(datagrams)
    await until(() => clock.pending === 0)
  })

  it('finds a server that has moved to another address', async () => {
    let addresses = [v4!]
    const { source } = await subject(async () => addresses)
    await source.poll(never())
    addresses = [v6!, v4!]
    expect((await source.poll(never())).fields.playersMax).toBe(20)
  })

  it('reports that all addresses refuse, or that the name has none', async () => {
    let addresses = [v6!, { address: '127.0.0.2', family: 4 }]
    const { source } = await subject(async () => addresses)
    await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused' })
    addresses = []
    await expect(source.poll(never())).rejects.toMatchObject({ code: 'dns' })
  })

  it('ends at its deadline, with every socket closed', async () => {
    const { port, clock, source } = await subject(async () => [v6!, { address: '::1', family: 6 }])
    const silent = await silentAt(port)
    const deadline = new AbortController()
    const polled = expect(source.poll(deadline.signal)).rejects.toMatchObject({ code: 'timeout' })
    await until(() => silent.datagrams > 0)
    await clock.advance(250)
    await until(() => silent.datagrams > 1)
    deadline.abort(new SourceError('timeout', 'late'))
    await polled
    // Only those of both servers remain.
    await expect.poll(() => process.getActiveResourcesInfo().filter((name) => name.startsWith('UDP')).length).toBe(2)
    expect(clock.pending).toBe(0)
  })
})
