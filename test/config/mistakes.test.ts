import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { text } from '../../src/settings/kinds/index.ts'
import { findDeprecated, type Given, readSettings } from '../../src/settings/read.ts'
import { configProblems } from '../helpers/config-problems.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwarden-mistakes-'))
let files = 0
function file(content: string | Buffer): string {
  const path = join(folder, `${files++}.yaml`)
  writeFileSync(path, content)
  return path
}

const inFile = (content: string | Buffer) => {
  const path = file(content)
  return configProblems({ env: {}, file: path }).map((problem) => problem.replaceAll(path, 'f'))
}

const valid = 'servers: [{ name: a, address: mc.example.org }]\n'
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')

describe('the encoding of a config file', () => {
  it.each([
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${valid}`)],
    ['CRLF', valid.replaceAll('\n', '\r\n')],
  ])('may be %s', (_, content) => {
    expect(inFile(content)).toEqual([])
  })

  it.each([
    ['UTF-16', utf16(valid)],
    ['UTF-16 without a byte order mark', Buffer.from(valid, 'utf16le')],
    ['Latin-1', Buffer.from(valid.replace('name: a', 'name: café'), 'latin1')],
  ])('is not %s', (_, content) => {
    expect(inFile(content)).toEqual(['f: cannot be read (not UTF-8 text; save it as UTF-8)'])
  })

  it('is checked for the file of a secret too', () => {
    const env = { MC_SERVER: 'x', MC_RCON: 'x', MC_RCON_PASSWORD_FILE: file(utf16('secret')) }
    expect(configProblems({ env })).toEqual([
      expect.stringMatching(/^MC_RCON_PASSWORD_FILE is ".*", which cannot be read \(not UTF-8 text; save it as UTF-8\)/),
    ])
  })
})

describe('.env', () => {
  const before = process.cwd()
  beforeEach(() => process.chdir(mkdtempSync(join(folder, 'cwd-'))))
  afterEach(() => process.chdir(before))

  it('may have a byte order mark', () => {
    writeFileSync('.env', '\uFEFFMC_SERVER=mc.example.org\r\nMC_NAME=survival\r\n')
    expect(loadConfig().servers).toMatchObject([{ name: 'survival' }])
  })

  it('may not be UTF-16, in which no setting would be found', () => {
    writeFileSync('.env', utf16('MC_SERVER=mc.example.org\r\n'))
    expect(configProblems({})).toEqual(['.env: cannot be read (not UTF-8 text; save it as UTF-8)'])
  })

  it('may not have settings as in YAML, which would not be read', () => {
    writeFileSync('.env', '# MC_NAME: survival\nMC_SERVER: mc.example.org\nNOTE: 1\nPORT=1\n  export MC_RCON_PASSWORD : secret\n')
    const problem = (name: string) => `.env: ${name} is followed by a colon; expected ${name}=...`
    expect(configProblems({})).toEqual([problem('MC_SERVER'), problem('MC_RCON_PASSWORD')])
  })

  it('may have text that looks so in quotes', () => {
    writeFileSync('.env', 'NOTES="first\r\nMC_SERVER: old\r\n  PORT: 80"\nMC_SERVER=mc.example.org\n')
    expect(configProblems({})).toEqual([])
  })
})

describe('a mistake in the structure of a config file', () => {
  it('is reported with the key that a list of servers belongs to', () => {
    expect(inFile('- { name: a, address: mc.example.org }\n')).toEqual([
      'f: expected the list of servers below the line "servers:"',
    ])
  })

  it('is reported with an example of a value', () => {
    expect(inFile('servers: [{ name: a, address: x, query: { address: y } }]\n')).toEqual([
      expect.stringMatching(/^f: servers\[0\]\.query: expected a single value, such as "\S+:\d+"$/),
    ])
  })
})

describe('another name for the address of the server', () => {
  it.each(['MC_HOST', 'MC_ADDRESS', 'MC_SERVER_IP', 'MC_URL', 'TICKWARDEN_SERVER'])(
    'such as %s does not start the demo',
    (name) => {
      expect(configProblems({ env: { [name]: 'mc.example.org', MC_PORT: '25565' } })).toEqual([
        `${name}: unknown setting; did you mean MC_SERVER?`,
      ])
    },
  )

  it('is ignored with a warning if a server is configured', () => {
    const env = { MC_HOST: 'mc.example.org' }
    const inputs = [
      { env: { ...env, MC_SERVER: 'mc.example.org' } },
      { env, flags: { MC_SERVER: 'mc.example.org' } },
      { env, file: file(valid) },
    ]
    for (const input of inputs)
      expect(loadConfig(input).warnings).toEqual(['The environment variable MC_HOST is ignored: unknown setting.'])
  })
})

describe('a removed setting', () => {
  it('is ignored with a warning that says what to do instead', () => {
    expect(loadConfig({ env: { MC_SERVER: 'mc.example.org', WORKERS: '2' } }).warnings).toEqual([
      'The environment variable WORKERS is ignored: the setting was removed; run replicas instead, see docs/replicas.md.',
    ])
  })

  it('in the config file is a mistake that says what to do instead', () => {
    expect(inFile(`${valid}workers: 2\n`)).toEqual([
      'f, line 2: workers: the setting was removed; run replicas instead, see docs/replicas.md',
    ])
  })
})

describe('an environment variable in a config file', () => {
  const message =
    'environment variables are not replaced in this file; write the value, use the File form of a secret, or set it in the environment'
  const ref = (name: string) => `$\{${name}}`
  it.each([
    [`servers:\n  - address: x\n    rcon:\n      address: x\n      password: ${ref('RCON')}\n`, [5]],
    [`servers:\n  - address: x\n    rcon:\n      address: x\n      password: "${ref('RCON:-default')}"\n`, [5]],
    [`servers:\n  - { address: "${ref('HOST')}", rcon: { address: y, password: ${ref('RCON')} } }\n`, [2]],
    [`servers:\n  - { address: ${ref('HOST')}, name: a }\n  - { address: ${ref('HOST')}, name: b }\n`, [2, 3]],
  ])('is not replaced: %j', (content, lines) => {
    expect(inFile(content)).toEqual(
      lines.map((line) => expect.stringMatching(new RegExp(`^f, line ${line}, column \\d+: ${message}$`))),
    )
  })

  it('is not detected in other values with a dollar sign or braces', () => {
    const password = 'password: a$b{c}'
    const content = `pictures: { headsUrl: "https://x/{uuid}" }\nservers:\n  - address: x\n    rcon:\n      address: y\n      ${password}\n`
    expect(inFile(content)).toEqual([])
  })
})

describe('a secret and its file', () => {
  const secret = file('Sekret9')

  it.each<[string, { env: Record<string, string>; flags?: Record<string, string> }]>([
    ['MC_RCON_PASSWORD and MC_RCON_PASSWORD_FILE', { env: { MC_RCON_PASSWORD: 'Sekret8', MC_RCON_PASSWORD_FILE: secret } }],
    ['RUN_TOKEN and RUN_TOKEN_FILE', { env: { RUN_TOKEN: 'Sekret8', RUN_TOKEN_FILE: '/does/not/exist' } }],
  ])('cannot both be set: %s', (names, input) => {
    const problems = configProblems({ ...input, env: { MC_SERVER: 'x', ...input.env } })
    expect(problems).toEqual([`${names} are both set; remove one of them`])
  })

  it('cannot both be set in the config file', () => {
    const text = `servers: [{ name: a, address: x, rcon: { password: Sekret8, passwordFile: ${secret} } }]`
    expect(inFile(text)).toEqual(['f: servers[0].rcon.password and rcon.passwordFile are both set; remove one of them'])
  })

  it('may be set in different places, and one of them may be empty', () => {
    const env = { MC_SERVER: 'x', MC_RCON_PASSWORD: 'Sekret8' }
    expect(configProblems({ env, flags: { MC_RCON_PASSWORD_FILE: secret } })).toEqual([])
    expect(configProblems({ env: { ...env, MC_RCON_PASSWORD_FILE: '' } })).toEqual([])
  })
})

describe('several servers in one address', () => {
  it.each(['a.example.org,b.example.org', 'a.example.org b.example.org:25566', ' a;\nbedrock://b '])('%j', (text) => {
    const advice = 'list several servers in tickwarden.yaml, each as an entry of servers'
    expect(configProblems({ env: { MC_SERVER: text } })).toEqual([`MC_SERVER is ${JSON.stringify(text)}; ${advice}`])
    expect(inFile(`servers: [{ name: a, address: ${JSON.stringify(text)} }]`)).toEqual([
      `f: servers[0].address is ${JSON.stringify(text)}; ${advice}`,
    ])
  })

  it.each(['a b!', 'a,', 'a b:0', 'a server'])('is not the advice for %j', (text) => {
    expect(configProblems({ env: { MC_SERVER: text } })).toEqual([expect.stringContaining('expected host or host:port')])
  })
})

describe('edition in an entry', () => {
  const addressOf = (entry: string) => {
    const { servers } = loadConfig({ env: {}, file: file(`servers:\n  - { name: a, address: x }\n  - { name: b, ${entry} }\n`) })
    return servers[1]?.sources.status?.address
  }

  it.each([
    ['edition: bedrock, address: pe.example.org', { edition: 'bedrock', host: 'pe.example.org', port: 19_132 }],
    ['address: "pe.example.org:19133", edition: Bedrock', { edition: 'bedrock', host: 'pe.example.org', port: 19_133 }],
    ['edition: bedrock, address: "bedrock://pe.example.org"', { edition: 'bedrock', host: 'pe.example.org', port: 19_132 }],
    ['edition: java, address: mc.example.org', { edition: 'java', host: 'mc.example.org', port: 25_565 }],
    ['edition: , address: mc.example.org', { edition: 'java', host: 'mc.example.org', port: 25_565 }],
  ])('is applied to the address: %s', (entry, address) => {
    expect(addressOf(entry)).toEqual(address)
  })

  it.each([
    ['edition: pocket, address: x', 'f: servers[0].edition: expected java or bedrock'],
    ['edition: [bedrock], address: x', 'f: servers[0].edition: expected java or bedrock'],
    ['edition: java, address: "bedrock://x"', 'f: servers[0].edition is java, but the address begins with bedrock://'],
    [`edition: bedrock, directory: ${folder}`, 'f: servers[0].edition is set without address'],
  ])('is refused: %s', (entry, problem) => {
    expect(inFile(`servers: [{ name: a, ${entry} }]`)).toEqual([problem])
  })
})

it('warns of deprecated settings, from wherever they are set', () => {
  const table = {
    old: { env: 'OLD_NAME', file: 'oldName', kind: text, meaning: 'old', deprecated: 'use NEW_NAME instead' },
    kept: { env: 'NEW_NAME', kind: text, meaning: 'new' },
  }
  const warningsFor = (env: Readonly<Record<string, string>>, file = new Map<string, Given>()) =>
    findDeprecated(table, readSettings(table, { flags: {}, env, file }, []).given)
  expect(warningsFor({ NEW_NAME: 'a' })).toEqual([])
  expect(warningsFor({ OLD_NAME: 'a' })).toEqual(['OLD_NAME is deprecated and will be removed; use NEW_NAME instead.'])
  const inFile = { from: 'tickwarden.yaml: oldName', inFile: true, text: 'a' }
  expect(warningsFor({}, new Map([['oldName', inFile]]))).toEqual([
    'tickwarden.yaml: oldName is deprecated and will be removed; use NEW_NAME instead.',
  ])
})
