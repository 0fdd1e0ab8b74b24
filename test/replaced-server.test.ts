import { expect, it } from 'vitest'
import { openEvents } from './helpers/event-client.ts'
import { buildTestApp } from './helpers/test-app.ts'
import { until } from './helpers/until.ts'

const at = (port: number, group?: string) => ({
  ...{ name: 'Server', ...(group !== undefined && { group }) },
  sources: { status: { address: { host: 'server.test', port, edition: 'java' as const } } },
})
const online = (...names: string[]) => ({
  status: { motd: names.join() },
  rcon: { playersOnline: names.length, players: { complete: true, players: names.map((name) => ({ name })) } },
})

interface Details {
  readonly details?: unknown
  readonly sessions: readonly { readonly player: { readonly NAME: string }; readonly isOnline: boolean }[]
}

it('nothing of a server is kept if its address changes, and everything if only other settings do', async () => {
  const { fleet, url, get } = await buildTestApp({ scripts: { Server: online('Alice', 'Bob') } })
  const client = await openEvents(`${url}/api/v1/events`)
  const playersOnline = async () => {
    const { sessions } = (await (await get('/page/servers/Server')).json()) as Details
    return sessions.flatMap(({ player, isOnline }) => (isOnline ? player.NAME : [])).sort()
  }
  await until(() => client.events.length === 1)
  fleet.update([at(1)])
  fleet.scripts.Server = online('Alice', 'Carol')
  await fleet.pollAll()
  expect(await playersOnline()).toEqual(['Alice', 'Carol'])
  fleet.update([at(1, 'Lobbies')])
  fleet.scripts.Server = online('Alice', 'Dave')
  await fleet.pollAll()
  expect(await playersOnline()).toEqual(['Alice', 'Dave'])
  fleet.update([at(2, 'Lobbies')])
  expect(await playersOnline()).toEqual([])
  expect((await get('/api/v1/motd')).status).toBe(503)
  fleet.scripts.Server = online('Erin')
  await fleet.pollAll()
  expect(await playersOnline()).toEqual(['Erin'])
  await until(() => client.events.at(-1)?.data.motd === 'Erin')
  client.close()
  const changes = client.events.flatMap(({ event, data }) =>
    event === 'join' || event === 'leave'
      ? `${event} ${(data.player as { NAME: string }).NAME}`
      : event === 'change'
        ? []
        : event,
  )
  // Only those of the change of the group compare with what was known before.
  expect(changes).toEqual(['snapshot', 'leave Carol', 'join Dave'])
})
