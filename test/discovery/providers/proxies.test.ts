import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'vitest'
import { startDiscovering, temporaryFolder } from '../../helpers/discovering-service.ts'
import { separateTestEnds } from '../../helpers/test-end.ts'

// Concurrent, because these tests mostly wait, but for the one that keeps the process busy.
separateTestEnds()

/** As Velocity writes it, shortened. */
const velocityToml = `# Config version. Do not change this
config-version = "2.7"
bind = "0.0.0.0:25565"
motd = "<#09add3>A Velocity Server"
show-max-players = 500
forwarding-secret-file = "forwarding.secret"

[servers]
# Each key is the name of a server, the value its address.
lobby = "127.0.0.1:30066"
"mini games" = "127.0.0.1:30067"
factions = '127.0.0.1:30068'

try = [
    "lobby"
]

[forced-hosts]
"lobby.example.com" = [
    "lobby"
]

[advanced]
compression-threshold = 256
`

/** As BungeeCord writes it, shortened. */
const bungeeYaml = `listeners:
- query_port: 25577
  motd: '&1Another Bungee server'
  priorities:
  - lobby
  host: 0.0.0.0:25577
  max_players: 1
groups:
  md_5:
  - admin
ip_forward: false
servers:
  lobby:
    motd: '&1Just another BungeeCord - Forced Host'
    address: localhost:25565
    restricted: false
  pvp:
    address: 127.0.0.1:25566
timeout: 30000
`

/** In the form of mc-router's README, with a second name of one backend. */
const routes = JSON.stringify({
  'default-server': 'limbo:25565',
  mappings: {
    'vanilla.example.com': 'vanilla:25565',
    'forge.example.com': 'forge:25565',
    'www.example.com': 'vanilla:25565',
  },
})

async function start(name: string, setting: string, text: string) {
  const folder = temporaryFolder()
  const file = join(folder, name)
  writeFileSync(file, text)
  const service = await startDiscovering({ folder, env: { MC_SERVER: '127.0.0.1:1', MC_NAME: 'own', [setting]: file } })
  const targets = async () => {
    const groups = (await (await service.get('/sd')).json()) as readonly {
      targets: readonly string[]
      labels: Record<string, string>
    }[]
    return groups.slice(1).map(({ targets, labels }) => `${labels.__meta_tickwarden_name} ${targets[0]}`)
  }
  const problems = async () => (await service.lists()).find(({ list }) => list === name)?.problems
  return { ...service, write: (text: string) => writeFileSync(file, text), targets, problems }
}

it.concurrent('reads the servers of velocity.toml, and again when it changes', async ({ expect }) => {
  const { targets, write, problems } = await start('velocity.toml', 'DISCOVERY_VELOCITY', velocityToml)
  expect(await targets()).toEqual(['lobby 127.0.0.1:30066', 'mini games 127.0.0.1:30067', 'factions 127.0.0.1:30068'])
  write(velocityToml.replace('factions = ', 'arena = '))
  await expect.poll(targets).toEqual(['lobby 127.0.0.1:30066', 'mini games 127.0.0.1:30067', 'arena 127.0.0.1:30068'])
  write(velocityToml.replace('"127.0.0.1:30066"', '"127.0.0.1:30066'))
  await expect.poll(async () => (await problems())?.[0]).toMatch(/^line \d+, column \d+: not valid TOML$/)
  expect((await targets()).length).toBe(3)
  write('bind = "0.0.0.0:25565"')
  await expect.poll(problems).toEqual(['it has no table [servers]'])
  write(velocityToml.replace('"127.0.0.1:30066"', '"host with spaces"').replace("'127.0.0.1:30068'", '5'))
  await expect.poll(targets).toEqual(['mini games 127.0.0.1:30067'])
  expect(await problems()).toEqual([
    expect.stringMatching(/^server "lobby": address is "host with spaces"; expected host or host:port/),
    'server "factions" has no address; expected host:port',
  ])
})

it.concurrent("reads the servers of BungeeCord's config.yml", async ({ expect }) => {
  const { targets, write, problems } = await start('config.yml', 'DISCOVERY_BUNGEECORD', bungeeYaml)
  expect(await targets()).toEqual(['lobby localhost:25565', 'pvp 127.0.0.1:25566'])
  write(bungeeYaml.replace('address: 127.0.0.1:25566', 'address: unix:/run/pvp.sock'))
  await expect.poll(targets).toEqual(['lobby localhost:25565'])
  expect((await problems())?.[0]).toMatch(/^server "pvp": address is "unix:.*"; expected host/)
  write('servers: [')
  await expect.poll(async () => (await problems())?.[0]).toMatch(/^config\.yml, line 1/)
  write('listeners: []')
  await expect.poll(async () => (await problems())?.[0]).toBe('it has no mapping "servers"')
  expect(await targets()).toEqual(['lobby localhost:25565'])
})

it.concurrent('reads the backends of the routes file of mc-router, each once', async ({ expect }) => {
  const { targets, write, problems, names } = await start('routes.json', 'DISCOVERY_MC_ROUTER', routes)
  expect(await targets()).toEqual(['vanilla.example.com vanilla:25565', 'forge.example.com forge:25565', 'default limbo:25565'])
  for (const [index, fallback] of [null, '', 'vanilla:25565'].entries()) {
    write(JSON.stringify({ 'default-server': fallback, mappings: { [`a${index}.example.com`]: 'vanilla:25565' } }))
    await expect.poll(names).toEqual(['own', `a${index}.example.com`])
  }
  write('{ "mappings": [] }')
  await expect.poll(problems).toEqual(['mappings: expected an object of host names and addresses'])
  write('[]')
  await expect.poll(problems).toEqual(['expected an object with mappings'])
})

it('refuses a list of too many servers', async ({ expect }) => {
  const mappings = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`a${index}.test`, `b${index}.test`]))
  const { problems } = await start('routes.json', 'DISCOVERY_MC_ROUTER', JSON.stringify({ mappings }))
  expect(await problems()).toEqual(['it has 100001 servers, more than 100000'])
})
