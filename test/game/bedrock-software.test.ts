import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { describeSources } from '../../src/status-api/sources.ts'
import { silentLog } from '../../src/util/log.ts'
import { bedrockServer, pong } from '../helpers/bedrock-server.ts'
import { patientClock } from '../helpers/patient-clock.ts'
import { queryServer } from '../helpers/query-server.ts'
import { listenRconPeer, packet } from '../helpers/rcon-peer.ts'

async function watch(env: Readonly<Record<string, string>>) {
  await using server = await bedrockServer((reply) => {
    reply(pong('MCPE;Nukkit Server;924;1.21.130;2;20;1234;Powered by Nukkit;Survival;1;19132;19132;'))
  })
  const { servers, poll } = loadConfig({ env: { MC_SERVER: `bedrock://127.0.0.1:${server.port}`, ...env } })
  const fleet = createFleet({ servers, poll, clock: patientClock, log: silentLog, createSources })
  onTestFinished(() => fleet.close())
  return await fleet.watchers[0]!.poll()
}

it('a Bedrock server with RCON and query is read by all sources', async () => {
  const rcon = await listenRconPeer(({ socket, id, body }) => {
    socket.write(packet(id, 0, body === 'list' ? 'There are 2/20 players online:\nAlice, Bob' : 'Unknown command. Try /help'))
  })
  const query = await queryServer({ names: ['Alice', 'Bob'], gameId: 'MINECRAFTPE', version: 'v1.21.130' })
  onTestFinished(async () => {
    query.close()
    await rcon.close()
  })
  const snapshot = await watch({
    MC_RCON: `127.0.0.1:${rcon.port}`,
    MC_RCON_PASSWORD: 'password',
    MC_QUERY: `127.0.0.1:${query.port}`,
  })
  const { fields } = snapshot
  expect(snapshot.sources.map(({ source, state }) => [source, state])).toEqual([
    ['status', 'ok'],
    ['rcon', 'ok'],
    ['query', 'ok'],
  ])
  expect(fields).toMatchObject({
    edition: { value: 'bedrock', source: 'status' },
    version: { value: '1.21.130', source: 'status' },
    map: { value: 'world', source: 'query' },
    players: { value: { players: [{ name: 'Alice' }, { name: 'Bob' }], complete: true } },
  })
})

it('the edition of a server that only query reads is its own', async () => {
  const query = await queryServer({ gameId: 'MINECRAFTPE' })
  onTestFinished(() => void query.close())
  const servers = [{ name: 'a', sources: { query: { address: { host: '127.0.0.1', port: query.port } } } }]
  const { poll } = loadConfig({ env: {} })
  const fleet = createFleet({ servers, poll, clock: patientClock, log: silentLog, createSources })
  onTestFinished(() => fleet.close())
  expect((await fleet.watchers[0]!.poll()).fields.edition?.value).toBe('bedrock')
})

it('the failed sources of a Bedrock server are listed for each field', async () => {
  const snapshot = await watch({ MC_RCON: '127.0.0.1:1', MC_RCON_PASSWORD: 'password' })
  const { fields } = describeSources(snapshot, { edition: 'bedrock' })
  expect(fields.difficulty?.setting).toContain('rcon fails (refused)')
  expect(fields.difficulty?.setting).not.toContain('MC_MANAGEMENT')
})
