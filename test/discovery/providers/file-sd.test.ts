import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../../../src/config/config.ts'
import { startDiscovering, temporaryFolder } from '../../helpers/discovering-service.ts'
import { separateTestEnds } from '../../helpers/test-end.ts'
import { until } from '../../helpers/until.ts'

// Concurrent, because these tests mostly wait, but for those that keep the process busy.
separateTestEnds()

/** The example of Prometheus' own documentation. */
const documented = `[
    {
        "targets": ["10.0.10.2:9100", "10.0.10.3:9100", "10.0.10.4:9100", "10.0.10.5:9100"],
        "labels": {
            "__meta_datacenter": "london",
            "__meta_prometheus_job": "node"
        }
    },
    {
        "targets": ["10.0.40.2:9100", "10.0.40.3:9100"],
        "labels": {
            "__meta_datacenter": "london",
            "__meta_prometheus_job": "alertmanager"
        }
    }
]`

async function start(files: Readonly<Record<string, string>>, pattern = '*.json') {
  const folder = temporaryFolder()
  const targets = join(folder, 'targets')
  mkdirSync(targets)
  const write = (name: string, text: string) => writeFileSync(join(targets, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  const service = await startDiscovering({
    folder,
    yaml: 'servers: [{ name: own, address: "127.0.0.1:1" }]',
    env: {
      DISCOVERY_FILE_SD: pattern
        .split(',')
        .map((part) => join(targets, part))
        .join(','),
    },
  })
  return { ...service, targets, write }
}

const found = async ({ get }: { get(path: string): Promise<Response> }) => {
  const groups = (await (await get('/sd')).json()) as readonly { targets: readonly string[]; labels: Record<string, string> }[]
  return Object.fromEntries(groups.slice(1).map(({ targets, labels }) => [labels.__meta_tickwarden_name, targets[0]]))
}

it.concurrent('reads the format documented by Prometheus', async ({ expect }) => {
  const service = await start({ 'nodes.json': documented })
  const addresses = ['10.0.10.2', '10.0.10.3', '10.0.10.4', '10.0.10.5', '10.0.40.2', '10.0.40.3'].map((host) => `${host}:9100`)
  expect(await service.names()).toEqual(['own', ...addresses])
})

it.concurrent('reads name, edition, group and sources of a server from target and labels', async ({ expect }) => {
  const groups = [
    {
      targets: ['mc.test:25570'],
      labels: { name: 'survival', group: 'Game', __meta_datacenter: 'x', __tickwarden_hostname: 'play.test' },
    },
    { targets: ['bedrock://be.test'], labels: { server: 'pocket' } },
    { targets: ['bedrock://[::1]:19133'] },
    { targets: ['many.test:1', 'many.test:2'], labels: { name: 'many' } },
    { targets: ['rcon.test'], labels: { name: 'console', __tickwarden_rcon_password: 'x' } },
  ]
  const service = await start({ 'a.json': JSON.stringify(groups) })
  expect(await found(service)).toEqual({
    survival: 'mc.test:25570',
    pocket: 'bedrock://be.test:19132',
    '[::1]:19133': 'bedrock://[::1]:19133',
    'many many.test:1': 'many.test:1',
    'many many.test:2': 'many.test:2',
    console: 'rcon.test:25565',
  })
  const { sources } = (await (await service.get('/api/v1/servers/console/sources')).json()) as {
    sources: readonly { source: string; target: string | null }[]
  }
  expect(sources.find(({ source }) => source === 'rcon')?.target).toBe('rcon.test:25575')
})

it.concurrent('reads /sd of another Tickwarden, including servers that share an address', async ({ expect }) => {
  const address = '"127.0.0.1:25599"'
  const other = await startDiscovering({ yaml: `servers: [{ name: a, address: ${address} }, { name: b, address: ${address} }]` })
  const service = await start({ 'sd.json': await (await other.get('/sd')).text() })
  expect(await service.names()).toEqual(['own', 'a', 'b'])
  expect(Object.keys(await found(service))).toEqual(['a', 'b'])
})

it.concurrent('follows JSON and YAML files that match its patterns as they are added, changed and removed', async ({
  expect,
}) => {
  const service = await start({ 'a.json': '[{ "targets": ["a:1"] }]', 'b.yml': '- targets: [b:1]\n' }, '*.json,b*.yml')
  const { names, write, targets } = service
  expect(await names()).toEqual(['own', 'a:1', 'b:1'])
  write('c.json', '[{ "targets": ["c:1"], "labels": { "name": "0012" } }]')
  write('c.yml', '- targets: [no:1]')
  write('b2.yml', '- targets:\n  - b:2\n  labels: { name: 0012 }\n')
  await expect.poll(names).toEqual(['own', 'a:1', '0012', 'b:1'])
  await expect
    .poll(async () => (await service.lists()).find(({ list }) => list === 'b2.yml')?.problems[0])
    .toMatch(/^"0012" of file_sd/)
  renameSync(join(targets, 'c.json'), join(targets, 'c.json.old'))
  await expect.poll(names).toEqual(['own', 'a:1', 'b:1', '0012'])
})

it.concurrent('takes the labels of YAML as texts, as Prometheus does', async ({ expect }) => {
  const labels = '    shard: 1\n    up: true\n    ratio: 1.50\n    when: 2024-01-01\n    name: 007\n    group: yes\n    empty:\n'
  const files = {
    'a.yml': `- targets: [a:1]\n  labels:\n${labels}- targets: [b:1]\n  labels:\n- targets:\n`,
    'a.json': '[{ "targets": ["c:1"], "labels": null }, { "targets": null }, {}]',
  }
  const { names, get } = await start(files, '*.json,*.yml')
  expect([...(await names())].sort()).toEqual(['007', 'b:1', 'c:1', 'own'])
  const sd = JSON.parse(await (await get('/sd')).text()) as readonly { labels: Record<string, string> }[]
  expect(sd.map(({ labels }) => labels.__meta_tickwarden_group)).toContain('yes')
})

describe('an invalid list', () => {
  const broken = {
    '': 'it is empty',
    '[{ "targets": ["a:1"': 'it is not valid JSON',
    '{}': 'expected a list of target groups: [{"targets": ["host:port"]}]',
    '[1]': 'group 1: expected an object with targets and labels',
    '[{ "targets": "a:1" }]': 'group 1: targets: expected a list of strings, each host:port',
    '[{ "targets": ["a:1"], "labels": { "x": 1 } }]': 'group 1: labels: expected an object whose values are strings',
  }
  it.concurrent('does not change the servers', async ({ expect }) => {
    const { names, lists, write } = await start({ 'a.json': '[{ "targets": ["a:1"] }]' })
    for (const [text, problem] of Object.entries(broken)) {
      write('a.json', text)
      await expect.poll(async () => (await lists())[1]?.problems).toEqual([problem])
      expect(await names()).toEqual(['own', 'a:1'])
    }
  })

  it.concurrent('with a single invalid target is read without it', async ({ expect }) => {
    const groups = [
      { targets: ['a:1', 'http://b/', 'c:99999'] },
      { targets: ['d:1'], labels: { name: 'a/b' } },
      { targets: ['e:1'], labels: { __tickwarden_rcon_password_file: '/etc/passwd' } },
      { targets: ['f:1'], labels: { __tickwarden_directory: '/' } },
      { targets: ['g:1'], labels: { name: 'g', __tickwarden_query: 'x y' } },
    ]
    const { names, lists } = await start({ 'a.json': JSON.stringify(groups) })
    expect(await names()).toEqual(['own', 'a:1'])
    expect((await lists())[1]).toMatchObject({ state: 'ok', servers: 1, refused: 6 })
    expect((await lists())[1]?.problems).toEqual([
      'target "http://b/": expected host:port or bedrock://host:port',
      'target "c:99999": expected host:port or bedrock://host:port',
      expect.stringMatching(/^target "d:1": name is "a\/b"; expected a non-empty name/),
      'target "e:1": rcon.password.file cannot be set here',
      'target "f:1": directory cannot be set here',
      expect.stringMatching(/^target "g:1": query is "x y"; expected/),
    ])
  })
})

it.each(['/srv/targets.txt', '/srv/*/a.json', '/srv/a*b*.json', '*'])('refuses the pattern %s, as Prometheus does', (pattern) => {
  expect(() => loadConfig({ env: { DISCOVERY_FILE_SD: pattern } })).toThrow(ConfigError)
})

describe('hostile files', () => {
  const groups = (...targets: readonly string[]) => JSON.stringify([{ targets }])

  it('that are not regular files, or endless, do not block the others', async () => {
    const { targets, lists, names, write } = await start({ 'a.json': groups('a.test:1') })
    execFileSync('mkfifo', [join(targets, 'pipe.json')])
    symlinkSync('/dev/zero', join(targets, 'zero.json'))
    symlinkSync('loop.json', join(targets, 'loop.json'))
    mkdirSync(join(targets, 'folder.json'))
    write('b.json', groups('b.test:1'))
    await until(async () => (await names()).includes('b.test:1'))
    const problems = (await lists()).flatMap(({ list, problems }) => problems.map((problem) => `${list}: ${problem}`))
    expect(problems).toEqual([
      'folder.json: it is not a file',
      'loop.json: it cannot be read (ELOOP)',
      'pipe.json: it is not a file',
      'zero.json: it is not a file',
    ])
  })

  it('of too many targets or too much YAML are refused', async () => {
    const many = `[${Array.from({ length: 1_000 }, () => '"a.test:1"').join(',')}]`
    const aliases = `- &group { targets: ${many} }\n${'- *group\n'.repeat(100)}`
    const levels = Array.from({ length: 40 }, (_, level) => `- &l${level + 1} [*l${level}, *l${level}]\n`)
    const files = {
      'aliases.yml': aliases,
      'long.yml': `# ${'x'.repeat(5_000_000)}\n[]`,
      'many.json': groups(...Array.from({ length: 100_001 }, () => '')),
      'deep.json': '['.repeat(100_000),
      'empty.json': `[${'{},'.repeat(2_000_000)}{}]`,
      'nested.yml': `- &l0 []\n${levels.join('')}- *l40\n`,
    }
    const { lists } = await start(files, '*.json,*.yml')
    expect(Object.fromEntries((await lists()).slice(1).map(({ list, problems }) => [list, problems]))).toEqual({
      'aliases.yml': ['it has 101000 targets, more than 100000'],
      'long.yml': [expect.stringMatching(/more than 4194304; YAML of that size takes too long to parse$/)],
      'many.json': ['it has 100001 targets, more than 100000'],
      'deep.json': ['it is nested deeper than 512 levels'],
      'empty.json': ['it is of more than 4000000 values'],
      'nested.yml': ['group 1: expected an object with targets and labels'],
    })
  })

  it('whose targets would take too much memory with the labels of each are refused', async () => {
    const targets = Array.from({ length: 90_000 }, (_, index) => `a${index}.test`)
    const files = {
      'name.json': JSON.stringify([{ targets, labels: { name: 'x'.repeat(100_000) } }]),
      'settings.json': JSON.stringify([{ targets, labels: { [`__tickwarden_${'x'.repeat(100_000)}`]: 'x' } }]),
      'unused.json': JSON.stringify([{ targets: ['a.test:1'], labels: { unused: 'x'.repeat(100_000), name: 'a' } }]),
    }
    const { lists, names } = await start(files)
    const tooMuch = expect.stringMatching(/^its targets have 9\d{9} characters with the labels of each, more than 67108864$/)
    expect((await lists()).slice(1).map(({ list, problems }) => [list, problems])).toEqual([
      ['name.json', [tooMuch]],
      ['settings.json', [tooMuch]],
      ['unused.json', []],
    ])
    expect(await names()).toEqual(['own', 'a'])
  })

  it('never reveal a secret of a label or target in the log or to a client', async () => {
    const labels = (name: string, rcon: string) => ({
      ...{ name, secret: 's3cret-1', __tickwarden_rcon_address: rcon, __tickwarden_rcon_password: 's3cret-2' },
    })
    const text = JSON.stringify([
      { targets: ['a.test:1'], labels: labels('a', 'a.test:2') },
      { targets: ['b.test:1'], labels: labels('b', 'b.test:port') },
      { targets: ['c.test:1'], labels: { name: 'c', __tickwarden_rcon_password: 's3cret-3\nx' } },
      { targets: ['http://user:s3cret-4@d.test:1/?key=s3cret-5'] },
    ])
    const { lists, names, log, get } = await start({ 'a.json': text })
    expect(await names()).toEqual(['own', 'a', 'c'])
    const [, list] = await lists()
    expect(list).toMatchObject({ servers: 2, refused: 2 })
    const shown = [...log, JSON.stringify(list)]
    for (const path of ['/sd', '/metrics', '/api/v1/sources', '/api/v1/servers/a/sources', '/'])
      shown.push(await (await get(path)).text())
    expect(shown.join('\n')).not.toContain('s3cret')
  })

  it('may contain any name that is valid in a path', async () => {
    const names = ['__proto__', 'constructor', 'toString', '\u{1f600}', 'a"b\\c\nd', '%2e', '<script>', 'a b', '\u202e']
    const text = JSON.stringify(names.map((name, index) => ({ targets: [`127.0.0.1:${index + 1}`], labels: { name } })))
    const labels = '{"targets":["p.test:1"],"labels":{"name":"p","__proto__":"x","constructor":"y"}}'
    const service = await start({
      'a.json': text,
      'b.json': `[${labels}]`,
      'c.json': '[{"targets":["c.test:1"],"labels":{"name":"a/b"}}]',
    })
    expect(await service.names()).toEqual(['own', ...names, 'p'])
    for (const name of names) {
      const path = `/api/v1/servers/${encodeURIComponent(name)}`
      expect((await service.get(`${path}/sources`)).status, name).toBe(200)
      const label = name.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
      await until(async () => (await (await service.get('/metrics')).text()).includes(`minecraft_up{server="${label}"} 0\n`))
    }
    expect((await service.lists())[3]).toMatchObject({ list: 'c.json', servers: 0, refused: 1 })
  })
})
