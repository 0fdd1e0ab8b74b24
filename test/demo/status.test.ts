import { once } from 'node:events'
import { connect } from 'node:net'
import util from 'minecraft-server-util'
import sharp from 'sharp'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DemoOptions, type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { eraNames, findEra } from '../../src/demo/eras.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { ensure } from '../tools/ensure.mjs'

let demo: DemoServer | undefined
afterEach(() => demo?.close())

async function start(options: DemoOptions = {}): Promise<DemoServer> {
  demo = await startDemoServer({ scenario: 'steady', ...options })
  return demo
}

/** Sends bytes and returns everything received until the server closes the connection. */
async function exchange(server: DemoServer, ...parts: readonly string[]): Promise<Buffer> {
  const socket = connect(server.address.port, server.address.host)
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  socket.on('error', () => {})
  for (const part of parts) socket.write(Buffer.from(part, 'hex'))
  await once(socket, 'close')
  return Buffer.concat(received)
}

describe('the status of the demo server', () => {
  it.each(eraNames)('of %s is read by minecraft-server-util', async (era) => {
    const { address, world } = await start({ era, players: 3, motd: 'Hello §athere' })
    const status = await util.status(address.host, address.port, { enableSRV: false })
    expect(status.version).toEqual({ name: era, protocol: findEra(era)?.protocol })
    expect(status.players).toMatchObject({ online: 3, max: 20 })
    expect(status.players.sample?.map(({ name, id }) => `${name} ${id}`).sort()).toEqual(
      world
        .players()
        .map(({ name, id }) => `${name} ${id}`)
        .sort(),
    )
    expect(status.motd.clean).toBe('Hello there')
    expect(status.roundTripLatency).toBeGreaterThanOrEqual(0)
  })

  it('contains a 64x64 PNG', async () => {
    const { address } = await start()
    const { favicon } = await util.status(address.host, address.port, { enableSRV: false })
    const png = Buffer.from(favicon?.replace('data:image/png;base64,', '') ?? '', 'base64')
    expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 64, height: 64 })
    expect((await sharp(png).stats()).isOpaque).toBe(true)
  })

  it('lists at most 12 of many players', async () => {
    const { address } = await start({ players: 300 })
    const { players } = await util.status(address.host, address.port, { enableSRV: false })
    expect(players).toMatchObject({ online: 300, max: 300 })
    expect(players.sample).toHaveLength(12)
  })

  it('reports a join immediately', async () => {
    const { address, world } = await start({ players: 1 })
    const online = async () => (await util.status(address.host, address.port, { enableSRV: false })).players.online
    expect(await online()).toBe(1)
    world.join()
    expect(await online()).toBe(2)
  })

  it('rejects a login with a reason', async () => {
    const server = await start()
    const handshake = '1000f205093132372e302e302e3163dd02'
    expect((await exchange(server, handshake, '0200ff')).toString()).toContain('can be watched, but not played')
  })

  it.each([
    ['a frame that claims 2 MB', 'ffff7f00'],
    ['a VarInt that does not end', 'ffffffffff'],
    ['an empty frame', '00'],
    ['an unknown packet', '0499999999'],
    ['a handshake for a state that does not exist', '0a00f20503616161000009'],
  ])('closes the connection on %s', async (_what, bytes) => {
    expect(await exchange(await start(), bytes)).toHaveLength(0)
  })

  it('closes connections after 30 s', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const socket = connect(server.address.port, server.address.host)
    await once(socket, 'connect')
    socket.write(Buffer.from('10', 'hex'))
    // The server has accepted the connection once it answers a later one.
    await util.status(server.address.host, server.address.port, { enableSRV: false })
    const closed = once(socket, 'close')
    await clock.advance(30_000)
    await closed
  })

  it('closes immediately while clients are connected', async () => {
    const server = await start()
    const socket = connect(server.address.port, server.address.host)
    await once(socket, 'connect')
    await server.close()
    socket.destroy()
  })

  it('rejects options that are not supported', async () => {
    await expect(startDemoServer({ era: '0.30' })).rejects.toThrow('expected one of 1.12.2, ')
    await expect(startDemoServer({ era: '1.12.2', scenario: 'frozen' })).rejects.toThrow('no /tick')
    await expect(startDemoServer({ era: '1.20.4', scenario: 'paused' })).rejects.toThrow('does not pause')
    await expect(startDemoServer({ era: '1.12.2', software: 'neoforge' })).rejects.toThrow('NeoForge')
    const { address } = await start()
    await expect(startDemoServer({ ports: { status: address.port } })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('other clients read the status of the demo server', () => {
  beforeAll(() => ensure('test/peers'))
  const peer = (name: string) => import(new URL(`../peers/node_modules/${name}`, import.meta.url).href)

  it.each(['1.12.2', '1.21.11', '26.1'])('minecraft-protocol, as a client of %s', async (era) => {
    const { address } = await start({ era })
    const { default: protocol } = await peer('minecraft-protocol/src/index.js')
    expect(await protocol.ping({ host: address.host, port: address.port, version: era })).toMatchObject({
      version: { name: era, protocol: findEra(era)?.protocol },
      players: { online: 5, max: 20 },
      latency: expect.any(Number),
    })
  })

  it('gamedig', async () => {
    const { address, world } = await start({ players: 7 })
    const { GameDig } = await peer('gamedig/lib/index.js')
    const state = await GameDig.query({
      // "minecraft" would also wait for other protocols until its timeout.
      type: 'protocol-minecraftvanilla',
      host: address.host,
      port: address.port,
      givenPortOnly: true,
      socketTimeout: 20_000,
      attemptTimeout: 20_000,
    })
    expect(state).toMatchObject({ maxplayers: 20, numplayers: 7 })
    expect(state.raw).toMatchObject({ version: { name: '1.21.11', protocol: 774 } })
    expect(state.players.map(({ name }: { name: string }) => name).sort()).toEqual(
      world
        .players()
        .map(({ name }) => name)
        .sort(),
    )
  })
})
