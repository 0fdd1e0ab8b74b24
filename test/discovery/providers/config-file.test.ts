import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { type DiscoveringService, startDiscovering, temporaryFolder } from '../../helpers/discovering-service.ts'
import { createRconServerCount } from '../../helpers/rcon-count.ts'
import { separateTestEnds } from '../../helpers/test-end.ts'

// Concurrent, because these tests mostly wait.
separateTestEnds()

const server = (name: string, port = 1) => `  - { name: ${name}, address: "127.0.0.1:${port}" }\n`
const two = `servers:\n${server('a')}${server('b')}`

describe('the config file', () => {
  it.concurrent('is read again when it changes: written in place, or replaced as editors do', async ({ expect }) => {
    const { folder, names, log } = await startDiscovering({ yaml: two })
    expect(await names()).toEqual(['a', 'b'])
    writeFileSync(join(folder, 'tickwarden.yaml'), `${two}${server('c')}`)
    await expect.poll(names).toEqual(['a', 'b', 'c'])
    writeFileSync(join(folder, 'new'), `servers:\n${server('c')}${server('a', 2)}`)
    renameSync(join(folder, 'new'), join(folder, 'tickwarden.yaml'))
    await expect.poll(names).toEqual(['c', 'a'])
    expect(log).toContain('info: The watched servers have changed: added c')
    expect(log).toContain('info: The watched servers have changed: changed a; removed b')
  })

  it.concurrent('is read again if it is a symbolic link into a folder that is replaced, as in Kubernetes', async ({ expect }) => {
    const folder = temporaryFolder()
    const version = (name: string, yaml: string) => {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'tickwarden.yaml'), yaml)
      symlinkSync(name, join(folder, '..data_tmp'))
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    }
    version('..1', two)
    symlinkSync(join('..data', 'tickwarden.yaml'), join(folder, 'tickwarden.yaml'))
    const service = await startDiscovering({ folder, yaml: two })
    version('..2', `servers:\n${server('b')}`)
    await expect.poll(service.names).toEqual(['b'])
  })

  const broken: readonly (readonly [string, RegExp])[] = [
    ['servers: [', /line 1, column 11: .*closed brackets/],
    [`servers:\n${server('a', 99_999)}`, /servers\[0\]\.address is "127\.0\.0\.1:99999"; expected/],
    [`servers:\n${server('a')}${server('a')}`, /two servers have the name "a"/],
    ['', /it is empty/],
    ['page: { title: Mine }', /lists no server/],
    [`poll: { timeout: soon }\n${two}`, /poll\.timeout is "soon"/],
    [
      `${two}  - { name: c, address: "127.0.0.1:1", rcon: { passwordFile: /no/such/secret } }`,
      /is "secret", which cannot be read/,
    ],
  ]
  it.concurrent('keeps the current servers if it is broken, and reports why', async ({ expect }) => {
    const { folder, names, lists, log } = await startDiscovering({ yaml: two })
    expect((await lists())[0]).toMatchObject({ provider: 'config', list: 'tickwarden.yaml', state: 'ok' })
    for (const [yaml, message] of broken) {
      writeFileSync(join(folder, 'tickwarden.yaml'), yaml)
      await expect.poll(async () => (await lists())[0]?.problems[0]).toMatch(message)
      const [list] = await lists()
      expect(list).toMatchObject({ state: 'failed', servers: 2 })
      expect(JSON.stringify(list)).not.toContain(folder)
      expect(JSON.stringify(list)).not.toContain('/no/such')
      expect(await names()).toEqual(['a', 'b'])
    }
    const warnings = log.filter((line) => line.startsWith('warn: ') && line.includes('still watched'))
    expect(warnings).toHaveLength(broken.length)
    for (const warning of warnings) expect(warning.match(/tickwarden\.yaml/g)).toHaveLength(1)
    writeFileSync(join(folder, 'tickwarden.yaml'), `servers:\n${server('b')}`)
    await expect.poll(names).toEqual(['b'])
    expect((await lists())[0]).toMatchObject({ state: 'ok', problems: [], servers: 1 })
    expect(log.some((line) => line.startsWith('info: ') && line.endsWith('read again without errors'))).toBe(true)
  })

  it.concurrent('keeps the current servers if it is removed', async ({ expect }) => {
    const { folder, names, lists } = await startDiscovering({ yaml: two })
    rmSync(join(folder, 'tickwarden.yaml'))
    await expect.poll(async () => (await lists())[0]?.problems).toEqual(['it does not exist'])
    expect(await names()).toEqual(['a', 'b'])
  })

  it.concurrent('reports other changed settings, which require a restart', async ({ expect }) => {
    const { folder, names, log } = await startDiscovering({ yaml: two })
    const databases = 'databases: [{ name: books, file: books.json, fields: { title: { kind: text } } }]\n'
    const other = `poll: { timeout: 2s }\npage: { title: Other }\n${databases}`
    writeFileSync(join(folder, 'tickwarden.yaml'), `${other}${two}${server('c')}`)
    await expect.poll(names).toEqual(['a', 'b', 'c'])
    const lines = log.filter((line) => line.includes('restart'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('after a restart only: poll.timeout, page.title, databases.')
  })
})

it.concurrent('the environment is no config file of which the metrics tell', async ({ expect }) => {
  const metrics = async (service: DiscoveringService) => (await service.get('/metrics')).text()
  const [one, other] = await Promise.all([
    startDiscovering({ env: { MC_SERVER: '127.0.0.1:1' } }),
    startDiscovering({ yaml: two }),
  ])
  expect(await metrics(one)).toContain('tickwarden_discovery_up{provider="config"} 1')
  expect(await metrics(one)).not.toMatch(/^tickwarden_config_last/m)
  expect(await metrics(other)).toMatch(/^tickwarden_config_last_reload_successful 1$/m)
})

it.concurrent('does not lack its settings while it is empty, beside another list', async ({ expect }) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'targets.json'), '[{ "targets": ["127.0.0.1:1"], "labels": { "name": "a" } }]')
  const yaml = 'page: { title: Mine }\n'
  const { lists, log } = await startDiscovering({ folder, env: { DISCOVERY_FILE_SD: join(folder, '*.json') }, yaml })
  for (const text of ['', yaml]) {
    writeFileSync(join(folder, 'tickwarden.yaml'), text)
    await expect.poll(async () => (await lists())[0]?.problems).toEqual(text === '' ? ['it is empty'] : [])
  }
  expect(log.filter((line) => line.includes('restart'))).toEqual([])
})

describe('reload', () => {
  it.concurrent('replaces only the watcher of the server whose password file has changed', async ({ expect }) => {
    const { peer, settings } = await createRconServerCount()
    const folder = temporaryFolder()
    for (const name of ['one', 'two']) writeFileSync(join(folder, name), 'first')
    const entry = (name: string) =>
      `  - { name: ${name}, address: "127.0.0.1:1", rcon: { address: "${settings}", passwordFile: ${join(folder, name)} } }\n`
    const service = await startDiscovering({ folder, yaml: `servers:\n${entry('one')}${entry('two')}` })
    await expect.poll(() => peer.logins).toBe(2)
    writeFileSync(join(folder, 'two'), 'second')
    await service.reload()
    expect(service.log).toContain('info: The watched servers have changed: changed two')
    await expect.poll(() => peer.logins).toBe(3)
    expect(peer.sockets.size).toBe(2)
  })

  it.concurrent('reads the secrets of a server from the environment again', async ({ expect }) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'secret'), 'first')
    const env = { MC_SERVER: '127.0.0.1:1', MC_RCON_PASSWORD_FILE: join(folder, 'secret') }
    const service = await startDiscovering({ folder, env })
    writeFileSync(join(folder, 'secret'), 'second')
    await service.reload()
    expect(service.log).toContain('info: The watched servers have changed: changed Server')
    rmSync(join(folder, 'secret'))
    await service.reload()
    const [list] = await service.lists()
    expect(list).toMatchObject({ list: 'environment', state: 'failed', servers: 1 })
    expect(list?.problems.join()).not.toContain(folder)
  })

  it.concurrent('does not affect the demo server', async ({ expect }) => {
    const service = await startDiscovering({})
    await service.reload()
    expect(await service.names()).toEqual(['demo'])
    expect(service.log.some((line) => line.includes('restart the service to watch others'))).toBe(true)
  })
})

it.concurrent('requires no server if another provider is active, and then starts no demo server', async ({ expect }) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'targets.json'), '[]')
  const service = await startDiscovering({
    folder,
    env: { DISCOVERY_FILE_SD: join(folder, '*.json') },
    yaml: 'page: { title: Mine }',
  })
  expect(await service.names()).toEqual([])
  expect(service.log[0]).toMatch(/watches no servers yet/)
  expect(() => loadConfig({ env: { MC_NAME: 'x', DISCOVERY_FILE_SD: '/srv/x.json' } })).toThrow(
    'MC_NAME is set without MC_SERVER',
  )
})
