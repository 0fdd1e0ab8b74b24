import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startDiscovering, temporaryFolder } from '../../helpers/discovering-service.ts'

const yaml = 'servers: [{ name: first, address: "127.0.0.1:1" }]'

it('reads servers.d next to the config file: one server per file, named after it, or a list', async () => {
  const folder = temporaryFolder()
  const inFolder = (name: string) => join(folder, 'servers.d', name)
  mkdirSync(join(folder, 'servers.d'))
  writeFileSync(inFolder('lobby.yaml'), 'address: "127.0.0.1:1"\n')
  writeFileSync(
    inFolder('games.yml'),
    '- { name: skyblock, address: "127.0.0.1:1" }\n- { name: arena, group: Games, address: "127.0.0.1:2" }\n',
  )
  writeFileSync(inFolder('.lobby.yaml.swp'), 'not a list of servers')
  writeFileSync(inFolder('README.txt'), 'not a list of servers')
  const { names, lists, log } = await startDiscovering({ folder, yaml })
  expect(await names()).toEqual(['first', 'lobby', 'skyblock', 'arena'])

  writeFileSync(
    inFolder('games.yml'),
    '- { name: skyblock, address: "127.0.0.1:1" }\n- { address: "127.0.0.1:2", colour: red }\n',
  )
  await expect.poll(async () => (await lists()).find(({ list }) => list === 'games.yml')?.state).toBe('failed')
  expect((await lists()).map(({ list, state, servers }) => [list, state, servers])).toEqual([
    ['tickwarden.yaml', 'ok', 1],
    ['lobby.yaml', 'ok', 1],
    ['games.yml', 'failed', 2],
  ])
  expect((await lists())[2]?.problems[0]).toMatch(/games\.yml.*colour: unknown setting.*\[1\] has no name/)
  expect(await names()).toEqual(['first', 'lobby', 'skyblock', 'arena'])

  writeFileSync(inFolder('hub.yaml'), '{ name: hub, address: "127.0.0.1:3" }')
  rmSync(inFolder('lobby.yaml'))
  await expect.poll(names).toEqual(['first', 'hub', 'skyblock', 'arena'])
  // A broken file that is removed provides no servers.
  rmSync(inFolder('games.yml'))
  await expect.poll(names).toEqual(['first', 'hub'])
  // On a busy machine, reading it may count as slow, which is logged too.
  const problems = log.filter((line) => line.includes('games.yml') && !line.includes('nothing else could run'))
  expect(problems).toEqual([expect.stringContaining('colour: unknown setting')])
})

it('refuses a server whose name is already in use, and reports both places', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'more'))
  for (const name of ['a', 'b']) writeFileSync(join(folder, 'more', `${name}.yaml`), '{ name: first, address: "127.0.0.1:9" }')
  const { names, lists, get } = await startDiscovering({ folder, yaml, env: { DISCOVERY_FOLDER: join(folder, 'more') } })
  expect(await names()).toEqual(['first'])
  expect((await lists())[1]).toMatchObject({ servers: 0, refused: 1, state: 'ok' })
  expect((await lists())[1]?.problems).toEqual([
    '"first" of folder (a.yaml) is ignored: config (tickwarden.yaml) has a server with that name; names must be unique',
  ])
  const metrics = await (await get('/metrics')).text()
  expect(metrics).toContain('tickwarden_discovery_refused_servers{provider="folder"} 2\n')
  // The other one takes its place once it is removed.
  writeFileSync(join(folder, 'tickwarden.yaml'), 'servers: [{ name: other, address: "127.0.0.1:1" }]')
  await expect.poll(names).toEqual(['other', 'first'])
})

it('reports that a folder does not exist, so its servers are unknown', async () => {
  const folder = temporaryFolder()
  const { names, lists, get, log } = await startDiscovering({ folder, yaml, env: { DISCOVERY_FOLDER: join(folder, 'later') } })
  expect((await lists())[1]).toMatchObject({ provider: 'folder', state: 'failed', servers: null, lastSuccess: null })
  expect(log.some((line) => /^warn: .*its servers are unknown$/.test(line))).toBe(true)
  const metrics = async () => (await get('/metrics')).text()
  expect(await metrics()).toContain('tickwarden_discovery_up{provider="folder"} 0\n')
  expect(await metrics()).not.toContain('tickwarden_discovery_servers{provider="folder"}')
  mkdirSync(join(folder, 'later'))
  writeFileSync(join(folder, 'later', 'late.yaml'), 'address: "127.0.0.1:1"')
  await expect.poll(names).toEqual(['first', 'late'])
  expect(await metrics()).toContain('tickwarden_discovery_up{provider="folder"} 1\n')
  expect(await metrics()).toContain('tickwarden_discovery_servers{provider="folder"} 1\n')
})

it('reports the first of thousands of mistakes', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'servers.d'))
  writeFileSync(join(folder, 'servers.d', 'many.yaml'), '- { name: a, address: "x y" }\n'.repeat(5_000))
  const { lists, log } = await startDiscovering({ folder, yaml })
  const [problem] = (await lists())[1]?.problems ?? []
  expect(problem).toMatch(/^many\.yaml: \[0\]\.address is "x y"; expected .*\.\.\.$/)
  expect(problem?.length).toBeLessThan(11_000)
  expect(Math.max(...log.map((line) => line.length))).toBeLessThan(11_000)
})
