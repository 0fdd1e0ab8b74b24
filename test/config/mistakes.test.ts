import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'
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

describe('the encoding of .env', () => {
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
