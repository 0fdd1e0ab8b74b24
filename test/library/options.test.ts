import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { settingsOfServer } from '../../src/config/settings.ts'
import { type SourceName, sourceNames } from '../../src/game/sources/names.ts'
import { parseWatchOptions, type ServerOptions } from '../../src/library/options.ts'
import { readStatus } from '../../src/library/read-status.ts'

const folder = mkdtempSync(join(tmpdir(), 'options-'))
const file = join(folder, 'secret')
writeFileSync(file, 'secret')

type Documented = 'rcon' | 'management' | 'query' | 'jmx' | 'directory' | Exclude<keyof ServerOptions, SourceName>

/** Every option in one place, but for those of a source without a type of its own: the compiler refuses one that the type lacks, and one that it requires. */
const everything = {
  address: 'mc.example.org',
  name: 'survival',
  group: 'games',
  hostname: 'play.example.org',
  proxyProtocol: 'v2',
  asleepMotd: '/asleep/i',
  via: 'socks5://127.0.0.1:1080',
  viaCredentials: 'user:password',
  viaCredentialsFile: file,
  rcon: { address: 'mc.example.org:25575', password: 'secret', passwordFile: file },
  management: {
    url: 'ws://mc.example.org:25585',
    secret: 's'.repeat(40),
    secretFile: file,
    ca: file,
    fingerprint: 'ab'.repeat(32),
  },
  query: 'mc.example.org',
  jmx: { url: 'http://mc.example.org:8778/jolokia', user: 'user', password: 'secret', passwordFile: file },
  directory: folder,
} as const satisfies { [K in Documented]: Required<ServerOptions[K]> }

const keysOf = (options: object, before = ''): readonly string[] =>
  Object.entries(options).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value, `${before}${key}.`) : [before + key],
  )

it('has a type for every setting of a server', () => {
  const keys = settingsOfServer.flatMap(({ file: key = '', secret }) => (secret ? [key, `${key}File`] : [key]))
  const isDocumented = (key: string) => {
    const [first = ''] = key.split('.')
    return key !== '' && (first in everything || !sourceNames.some((name) => name === first))
  }
  expect(keysOf(everything).toSorted()).toEqual(keys.filter(isDocumented).toSorted())
})

it('accepts what the type allows', () => {
  const { management, viaCredentialsFile, rcon, jmx, ...others } = everything
  const { passwordFile, ...withPassword } = jmx
  const { server } = parseWatchOptions({ ...others, rcon: { address: rcon.address, passwordFile }, jmx: withPassword })
  expect(viaCredentialsFile).toBe(file)
  expect(server).toMatchObject({
    name: 'survival',
    via: { protocol: 'socks5', host: '127.0.0.1', port: 1080 },
    sources: { status: { hostname: 'play.example.org', proxyProtocol: 'v2', asleepMotd: '/asleep/i' } },
  })
  expect(management.ca).toBe(file)
})

it('refuses an option that does not exist', async () => {
  const options = { timeoutMs: 100 }
  await expect(readStatus('127.0.0.1:1', options as object)).rejects.toThrow(
    new TypeError('timeoutMs is not an option; expected timeout or signal'),
  )
  await expect(readStatus('127.0.0.1:1', { port: undefined } as object)).rejects.toThrow('127.0.0.1:1')
  expect(() => parseWatchOptions({ address: 'x', ...options })).toThrow(/^timeoutMs is not an option; /)
})

it('refuses a JMX password without a user, and a user without a password', () => {
  const { url, user, password } = everything.jmx
  const options = (jmx: ServerOptions['jmx'] & object) => () => parseWatchOptions({ address: 'x', jmx })
  expect(options({ url, user })).toThrow('jmx.user is set without jmx.password (or jmx.passwordFile)')
  expect(options({ url, password })).toThrow('jmx.password is set without jmx.user')
  expect(options({ url, user, password })).not.toThrow()
})
