import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ConfigInput, loadConfig } from '../../src/config/config.ts'
import { allSettings, settings } from '../../src/config/settings.ts'
import { addressOf, serverSettings } from '../../src/game/server-settings.ts'
import { configProblems } from '../helpers/config-problems.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwarden-config-'))
let files = 0
function file(text: string): string {
  const path = join(folder, `${files++}.yaml`)
  writeFileSync(path, text)
  return path
}
// Most tests are about single settings, so that no server is needed.
const load = (input: ConfigInput = {}) => loadConfig({ env: {}, watches: false, ...input })
const problems = (input: ConfigInput) => configProblems({ env: {}, watches: false, ...input })

describe('defaults', () => {
  it('are the documented ones', () => {
    const config = load()
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      servers: [],
      warnings: [],
      poll: { interval: 5000, timeout: 3000, staleAfter: 15_000 },
    })
    expect(config).toMatchObject({
      log: { logLevel: 'info' },
      http: { basePath: '', trustProxy: [], corsOrigin: '*' },
      metrics: { probeConcurrency: 64, compat: [] },
      runs: { runPause: 60_000 },
    })
    expect(config.data.dataDir).toBeUndefined()
  })

  it('are valid for their kind', () => {
    for (const { env, kind, ...rest } of allSettings) {
      const given = 'default' in rest ? rest.default : undefined
      if (given !== undefined) expect(kind.parse(given), env).toBeDefined()
    }
  })
})

describe('precedence', () => {
  const path = file('listen: 0.0.0.0:7000\npoll: { interval: 7s }\nlog: { level: warn }\n')

  it('is flag, environment, file, default', () => {
    const config = load({ flags: { PORT: '9000' }, env: { PORT: '8000', POLL_INTERVAL: '8s' }, file: path })
    expect(config.port).toBe(9000)
    expect(config.poll.interval).toBe(8000)
    expect(config.host).toBe('0.0.0.0')
    expect(config.log.logLevel).toBe('warn')
    expect(config.poll.timeout).toBe(3000)
  })

  it('reads the file named by TICKWARDEN_CONFIG', () => {
    expect(load({ env: { TICKWARDEN_CONFIG: path } }).port).toBe(7000)
  })

  it('treats an empty variable as not set', () => {
    expect(load({ env: { PORT: '', MC_SERVER: '' } })).toMatchObject({ port: 8080, servers: [] })
    expect(load({ env: { TICKWARDEN_CONFIG: '' } }).port).toBe(8080)
    expect(load({ env: { TICKWARDEN_CONFIG: path }, file: '' }).port).toBe(7000)
  })
})

describe('addresses', () => {
  it.each([
    ['mc.example.org', { edition: 'java', host: 'mc.example.org', port: 25565 }],
    ['mc.example.org:25577', { edition: 'java', host: 'mc.example.org', port: 25577 }],
    ['192.0.2.7:1', { edition: 'java', host: '192.0.2.7', port: 1 }],
    ['[2001:db8::1]:25570', { edition: 'java', host: '2001:db8::1', port: 25570 }],
    ['[2001:db8::1]', { edition: 'java', host: '2001:db8::1', port: 25565 }],
    ['::1', { edition: 'java', host: '::1', port: 25565 }],
    ['[fe80::1%eth0]:1', { edition: 'java', host: 'fe80::1%eth0', port: 1 }],
    ['::ffff:192.0.2.7', { edition: 'java', host: '::ffff:192.0.2.7', port: 25565 }],
    ['1.example.org.', { edition: 'java', host: '1.example.org.', port: 25565 }],
    ['mc_1:65535', { edition: 'java', host: 'mc_1', port: 65535 }],
    ['bedrock://pe.example.org', { edition: 'bedrock', host: 'pe.example.org', port: 19132 }],
    ['bedrock://[::1]:19133', { edition: 'bedrock', host: '::1', port: 19133 }],
  ])('%s', (given, expected) => {
    expect(load({ env: { MC_SERVER: given } }).servers[0]?.sources.status?.address).toEqual(expected)
  })

  it.each([
    '',
    ' ',
    'a b',
    'host:',
    'host:0',
    'host:65536',
    'host:abc',
    '[::1',
    '[name]:1',
    'http://x',
    '-a.example',
    'a..b',
    '1:2:3',
    'a:25565:',
    ':25565',
    '8080',
    '1.2.3',
    '256.1.1.1',
    '0x7f.1',
    '[1:2:3]:4',
    '[]:1',
    '::1:99999',
    '2001:db8::1:25570',
    '1:2:3:4:5:6:7:8:9',
    `${'x'.repeat(300)}`,
  ])('refuses %j', (given) => {
    if (given === '') return expect(load({ env: { MC_SERVER: given } }).servers).toEqual([])
    expect(problems({ env: { MC_SERVER: given } })).toEqual([expect.stringContaining('MC_SERVER is')])
  })
})

describe('listen addresses', () => {
  it.each(['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost', 'fe80::1%eth0'])('may be %s', (given) => {
    expect(load({ env: { HOST: given } }).host).toBe(given)
  })

  it.each(['127.0.0.1:1', '127.0.0.1:8080', '[::1]:1', 'localhost:', '8080', 'a b'])('refuses HOST=%s', (given) => {
    expect(problems({ env: { HOST: given } })).toEqual([expect.stringContaining(`HOST is "${given}"; expected`)])
  })

  it.each([
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['"[::]:8081"', '::', 8081],
    ['localhost', 'localhost', 8080],
  ])('may be %s in the file', (given, host, port) => {
    expect(load({ file: file(`listen: ${given}\n`) })).toMatchObject({ host, port })
  })

  it.each(['8080', ':8080', '127.0.0.1:65536', '1:2:3'])('refuses %s in the file', (given) => {
    expect(problems({ file: file(`listen: "${given}"\n`) })).toEqual([
      expect.stringContaining(`listen is "${given}"; expected host:port`),
    ])
  })

  it('in listen exclude host and port', () => {
    expect(problems({ file: file('listen: 127.0.0.1:7000\nhost: "::"\nport: 7001\n') })).toEqual([
      expect.stringMatching(/: listen and host are both set; remove one of them$/),
      expect.stringMatching(/: listen and port are both set; remove one of them$/),
    ])
  })
})

describe('METRICS_LISTEN', () => {
  it.each([
    [{ METRICS_LISTEN: '127.0.0.1:8080' }, '127.0.0.1:8080'],
    [{ HOST: '::1', PORT: '9000', METRICS_LISTEN: '[::1]:9000' }, '[::1]:9000'],
    [{ HOST: '0.0.0.0', METRICS_LISTEN: '127.0.0.1:8080' }, '127.0.0.1:8080'],
    [{ METRICS_LISTEN: '0.0.0.0:8080' }, '0.0.0.0:8080'],
  ])('must differ from the address of the service: %j', (env, shown) => {
    expect(problems({ env })).toEqual([
      `METRICS_LISTEN is ${shown}, the address of the service (HOST, PORT); expected another port`,
    ])
  })

  it.each([
    { METRICS_LISTEN: '127.0.0.1:8081' },
    { METRICS_LISTEN: '127.0.0.2:8080' },
    { PORT: '0', METRICS_LISTEN: '127.0.0.1:8080' },
  ])('may be another address: %j', (env) => {
    expect(problems({ env })).toEqual([])
  })
})

describe('STATE_URL', () => {
  it.each([
    ['redis://redis.test', { host: 'redis.test', port: 6379, tls: false, database: 0 }],
    ['rediss://[::1]:6380/3', { host: '::1', port: 6380, tls: true, database: 3 }],
    ['redis://:p%40ss@redis.test/', { host: 'redis.test', port: 6379, tls: false, database: 0, password: 'p@ss' }],
    ['redis://me:it:is@redis.test', { host: 'redis.test', port: 6379, tls: false, database: 0, user: 'me', password: 'it:is' }],
  ])('%s', (given, expected) => {
    expect(load({ env: { STATE_URL: given } }).cluster.stateUrl).toEqual(expected)
  })

  it.each([
    'redis.test:6379',
    'http://:geheim@redis.test',
    'redis://',
    'redis://:geheim@redis.test/x',
    'redis://:geheim@redis.test?db=1',
    'redis://:geheim%@redis.test',
    'redis://:geheim@redis.test:0',
  ])('refuses %s without showing the password', (given) => {
    const [problem, ...more] = problems({ env: { STATE_URL: given } })
    expect(problem).toMatch(/^STATE_URL is .*; expected redis:\/\/host:port or rediss:/)
    expect(problem).not.toContain('geheim')
    expect(more).toEqual([])
  })

  it('keeps values valid until the servers of a dead replica are polled again', () => {
    const env = { STATE_URL: 'redis://redis.test', POLL_INTERVAL: '1s', STATE_HEARTBEAT: '5s' }
    expect(load({ env }).poll.staleAfter).toBe(11_000)
    expect(load({ env: { ...env, STATE_HEARTBEAT: '500ms' } }).poll.staleAfter).toBe(4_000)
    expect(load({ env: { ...env, STALE_AFTER: '4s' } }).poll.staleAfter).toBe(4_000)
  })

  it('is required if STATE_PASSWORD is set', () => {
    expect(problems({ env: { STATE_PASSWORD: 'geheim' } })).toEqual(['STATE_PASSWORD is set without STATE_URL'])
  })
})

describe('CORS_ORIGIN', () => {
  it.each([
    ['*', '*'],
    ['https://example.org', 'https://example.org'],
    ['https://Example.org:443', 'https://example.org'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['https://xn--r8jz45g.jp', 'https://xn--r8jz45g.jp'],
    ['capacitor://localhost', 'capacitor://localhost'],
  ])('may be %s', (given, expected) => {
    expect(load({ env: { CORS_ORIGIN: given } }).http.corsOrigin).toBe(expected)
  })

  it.each([
    'https://例え.jp',
    'https://a.example, https://b.example',
    'https://a.example/',
    'https://a.example/path',
    'https://user@a.example',
    'https://a.example?x',
    'https://*.example.org',
    'a.example',
    'null',
    'https://',
    'https://a.example\nx: y',
  ])('refuses %j', (given) => {
    expect(problems({ env: { CORS_ORIGIN: given } })).toEqual([
      expect.stringMatching(/^CORS_ORIGIN is .*; expected \* or one origin/),
    ])
  })

  it('is a single origin in the file too', () => {
    const path = file('cors: { origin: ["https://a.example", "https://b.example"] }\n')
    expect(problems({ file: path })).toEqual([`${path}: cors.origin: expected a single value, such as "*"`])
  })
})

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
  ])('%s', (given, expected) => {
    const staleAfter = Math.max(3 * expected, expected + 3_000)
    expect(load({ env: { POLL_INTERVAL: given } }).poll).toMatchObject({ interval: expected, staleAfter })
  })

  it.each(['5', '499ms', '61m', '-5s', '5 s', '1e3s', 'soon'])('refuses %j', (given) => {
    expect(problems({ env: { POLL_INTERVAL: given } })).toEqual([
      `POLL_INTERVAL is ${JSON.stringify(given)}; expected a duration from 500ms to 1h, such as 500ms, 5s, 2m or 1h`,
    ])
  })
})

describe('mistakes', () => {
  it('are all listed, with their locations', () => {
    const path = file(
      'prt: 1\nlog: { level: loud }\nservers:\n  - { name: a, address: "a:b" }\n  - { name: a, address: x, colour: red }\n  - 7\n',
    )
    const found = problems({ flags: { HOST: 'a b' }, env: { PORT: '70000', POLL_INTERVAL: 'never' }, file: path })
    expect(found).toEqual(
      expect.arrayContaining([
        expect.stringContaining('--host is "a b"; expected'),
        expect.stringContaining('PORT is "70000"; expected an integer from 0 to 65535'),
        expect.stringContaining('POLL_INTERVAL is "never"'),
        expect.stringContaining('prt: unknown setting'),
        expect.stringContaining('log.level is "loud"; expected one of'),
        expect.stringContaining('servers[0].address is "a:b"'),
        expect.stringContaining('servers[1].colour: unknown setting'),
        expect.stringContaining('servers[2]: expected the settings of a server'),
      ]),
    )
  })

  it.each(['a b', 'tökén', 'a,b', '=', 'a=b', 'quoted"', ' '])('include a token that is not valid in a header: %j', (token) => {
    expect(problems({ env: { RUN_TOKEN: token, METRICS_TOKEN: token } })).toEqual(
      ['RUN_TOKEN', 'METRICS_TOKEN'].map((name) =>
        expect.stringMatching(`^${name} has a value that is not valid \\(not shown\\); expected a token of letters, digits`),
      ),
    )
  })

  it.each(['a', 'AZaz09-._~+/', 'c2VjcmV0Cg==', '\n token \n'])('do not include the RUN_TOKEN %j', (token) => {
    expect(load({ env: { RUN_TOKEN: token } }).runs.runToken).toBe(token.trim())
  })

  it.each([
    ['https://user:50%@example.org/p.json', '%'],
    ['https://us%er:pass@example.org/p.json', '%'],
    ['https://user:p%E4ss@example.org/p.json', 'Latin 1'],
    ['https://user:pa/ss@example.org/p.json', '/'],
    ['ftp://user:pass@example.org/p.json', 'FTP'],
  ])('of a snapshot URL do not show the password: %s (%s)', (given) => {
    expect(problems({ env: { PROJECTS_SNAPSHOT: given } })).toEqual([
      expect.stringMatching(
        /^PROJECTS_SNAPSHOT is ".{3,5}:\/\/\[hidden\]@example.org\/p.json"; expected a file path or .* write % as %25/,
      ),
    ])
  })

  it.each([
    'REDDIT_AUTH_URL',
    'REDDIT_API_URL',
    'GITHUB_API_URL',
    'SPOTIFY_ACCOUNTS_URL',
    'SPOTIFY_API_URL',
    'LASTFM_API_URL',
    'MC_JMX',
    'MC_MANAGEMENT',
  ])('include credentials, a query or a fragment in the base URL %s, which are not shown', (name) => {
    const scheme = name === 'MC_MANAGEMENT' ? 'ws' : 'http'
    const others = { MC_SERVER: 'a', ...(name === 'MC_MANAGEMENT' && { MC_MANAGEMENT_SECRET: 's' }) }
    for (const end of [
      '//user:hunter2@h:1/a',
      '//hunter2@h:1/a',
      'user:hunter2@h:1/a',
      '\\\\user:hunter2@h:1/a',
      '//h:1/a?token=hunter2',
      '//h:1/a?',
      '//h:1/a#hunter2',
    ]) {
      const found = problems({ env: { ...others, [name]: `${scheme}:${end}` } })
      expect(found, end).toEqual([
        expect.stringMatching(new RegExp(`^${name} is ".*"; expected a URL .*without a user name, password, query or fragment$`)),
      ])
      expect(found.join(), end).not.toContain('hunter2')
    }
    expect(problems({ env: { ...others, [name]: `${scheme}://h:1/a` } })).toEqual([])
  })

  it('include credentials in the URL of the heads, which may have a query', () => {
    expect(problems({ env: { HEADS_URL: 'https://user:hunter2@h/{uuid}' } })).toEqual([
      expect.stringMatching(/^HEADS_URL is "https:\/\/\[hidden\]@h\/\{uuid\}"; expected a URL/),
    ])
    expect(problems({ env: { HEADS_URL: 'https://h/{uuid}?size={size}' } })).toEqual([])
  })

  it('never show the query of a URL', () => {
    for (const place of ['ftp://example.org/p.json?token=hunter2', 'http://example.org/p.json?token=hunter2#hunter2']) {
      expect(() => loadConfig({ env: { PROJECTS_SNAPSHOT: place } })).toThrow(
        expect.objectContaining({ problems: [expect.stringMatching(/^PROJECTS_SNAPSHOT is "[^?]*\?\[hidden\]"; expected/)] }),
      )
    }
    expect(problems({ env: { REDDIT_API_URL: 'example.org/api?token=hunter2' } })).toEqual([
      expect.stringMatching(/^REDDIT_API_URL is "example\.org\/api\?\[hidden\]"; expected/),
    ])
  })

  it('of a secret never show it', () => {
    const secret = 'hunter2-hunter2'
    const all = problems({
      env: {
        MC_SERVER: 'a b',
        MC_RCON: 'x:y',
        MC_RCON_PASSWORD: secret,
        RUN_TOKEN: 'a token',
        MC_MANAGEMENT: 'http://x',
        MC_MANAGEMENT_SECRET: secret,
      },
    })
    expect(all).toContainEqual(expect.stringContaining('RUN_TOKEN has a value that is not valid (not shown)'))
    expect(all.join()).not.toContain('hunter2')
  })

  it('name the settings that require each other', () => {
    expect(problems({ env: { MC_RCON: 'localhost' } }).join()).toContain('MC_RCON_PASSWORD')
    expect(problems({ env: { MC_SERVER: 'x', MC_MANAGEMENT: 'ws://localhost:1' } }).join()).toContain('MC_MANAGEMENT_SECRET')
    expect(problems({ env: { MC_MANAGEMENT: 'ws://[fe80::1%eth0]:1' } })).toContain(
      'MC_MANAGEMENT is "ws://[fe80::1%eth0]:1"; a URL cannot contain the zone of an IPv6 address; use another address',
    )
    for (const env of [{ STALE_AFTER: '14s' }, { POLL_INTERVAL: '500ms', STALE_AFTER: '3s' }])
      expect(problems({ env }).join()).toContain('STALE_AFTER is shorter than POLL_INTERVAL')
    expect(load({ env: { STALE_AFTER: '15s' } }).poll.staleAfter).toBe(15_000)
    for (const path of [join(folder, 'none'), file(''), 'a'.repeat(5000)])
      expect(problems({ env: { MC_DIRECTORY: path } }).join()).toContain('expected a folder that exists')
    const ca = { MC_SERVER: 'x', MC_MANAGEMENT: 'ws://x:1', MC_MANAGEMENT_SECRET: 's', MC_MANAGEMENT_CA: folder }
    expect(problems({ env: ca }).join()).toContain('MC_MANAGEMENT_CA is')
    expect(problems({ file: join(folder, 'none.yaml') })).toEqual([expect.stringContaining('cannot be read (ENOENT)')])
    expect(problems({ file: file('a: [1\n') }).join()).toContain('.yaml, line 2')
    expect(problems({ file: file('a\n') }).join()).toContain('expected one setting per line')
  })
})

it('a name in notify or maintenance that no server has is a warning, unless servers come from elsewhere', () => {
  const text = `servers: [{ name: survival, group: games, address: x }]
notify:
  channels:
    - { type: ntfy, name: a, url: "https://ntfy.sh/x", servers: [survivl, games, "lobby-*"], groups: [gmes, survival] }
    - { type: ntfy, name: b, url: "https://ntfy.sh/x", groups: [games, "*"] }
maintenance:
  - { servers: [survival], schedule: "0 4 * * *", duration: 30m }
  - { servers: [creative, "*"], schedule: "0 4 * * *", duration: 30m }
`
  const path = file(text)
  expect(load({ file: path }).warnings).toEqual([
    `${path}: notify.channels[0].servers: no server or group is called "survivl"; did you mean survival?`,
    `${path}: notify.channels[0].groups: no group is called "gmes"; did you mean games?`,
    `${path}: notify.channels[0].groups: no group is called "survival"`,
    `${path}: maintenance[1].servers: no server or group is called "creative"`,
  ])
  expect(load({ file: path, env: { DISCOVERY_HTTP_SD: 'https://example.org/targets' } }).warnings).toEqual([])
})

describe('a setting without another one that it requires', () => {
  const folderThere = { MC_DIRECTORY: folder }
  it.each<[Record<string, string>, string[]]>([
    [{ MC_RCON: 'h', MC_SERVER: 'x' }, ['MC_RCON is set without MC_RCON_PASSWORD (or MC_RCON_PASSWORD_FILE)']],
    [{ MC_RCON_PASSWORD: 'p' }, ['MC_RCON_PASSWORD is set without MC_RCON or MC_SERVER']],
    [
      { MC_MANAGEMENT: 'ws://h:1', MC_SERVER: 'x' },
      ['MC_MANAGEMENT is set without MC_MANAGEMENT_SECRET (or MC_MANAGEMENT_SECRET_FILE)'],
    ],
    [{ MC_MANAGEMENT_SECRET: 's', MC_SERVER: 'x' }, ['MC_MANAGEMENT_SECRET is set without MC_MANAGEMENT']],
    [{ MC_MANAGEMENT_CA: import.meta.filename, MC_SERVER: 'x' }, ['MC_MANAGEMENT_CA is set without MC_MANAGEMENT']],
    [{ MC_MANAGEMENT_FINGERPRINT: 'ab'.repeat(32), MC_SERVER: 'x' }, ['MC_MANAGEMENT_FINGERPRINT is set without MC_MANAGEMENT']],
    [{ MC_MANAGEMENT_SECRET: 's' }, ['MC_MANAGEMENT_SECRET is set without MC_MANAGEMENT']],
    [{ MC_QUERY: 'h:1' }, ['MC_QUERY is set without MC_SERVER or MC_DIRECTORY']],
    [{ MC_QUERY: 'h:1', ...folderThere }, []],
    [{ MC_RCON: 'h', ...folderThere }, []],
    [{ MC_RCON_PASSWORD: 'p', ...folderThere }, []],
    [{ MC_MANAGEMENT_SECRET: 's', ...folderThere }, []],
    [{ MC_MANAGEMENT_FINGERPRINT: 'ab'.repeat(32), ...folderThere }, []],
  ])('%j', (env, expected) => {
    expect(problems({ env })).toEqual(expected)
  })

  it.each<[Record<string, string>, string]>([
    [{ MC_SERVER: 'bad host', MC_QUERY: 'h:1' }, 'MC_SERVER is "bad host"'],
    [
      { MC_SERVER: 'x', MC_RCON: 'h', MC_RCON_PASSWORD_FILE: '/nowhere' },
      'MC_RCON_PASSWORD_FILE is "/nowhere", which cannot be read',
    ],
    [{ MC_SERVER: 'x', MC_RCON: 'bad host', MC_RCON_PASSWORD: 'p' }, 'MC_RCON is "bad host"'],
    [{ MC_SERVER: 'x', MC_MANAGEMENT: 'http://x', MC_MANAGEMENT_SECRET: 's' }, 'MC_MANAGEMENT is "http://x"'],
    [
      { MC_SERVER: 'x', MC_MANAGEMENT: 'ws://h:1', MC_MANAGEMENT_SECRET: ' ' },
      'MC_MANAGEMENT_SECRET has a value that is not valid',
    ],
    [{ MC_DIRECTORY: '/nowhere', MC_QUERY: 'h:1' }, 'MC_DIRECTORY is "/nowhere"'],
    [{ POLL_INTERVAL: 'soon', STALE_AFTER: '1s' }, 'POLL_INTERVAL is "soon"'],
  ])('is not reported: %j', (env, expected) => {
    expect(problems({ env })).toEqual([expect.stringContaining(expected)])
  })

  it.each([
    ['{ address: x, rcon: { address: h } }', '.rcon.address is set without rcon.password (or rcon.passwordFile)'],
    ['{ rcon: { password: p, address: h } }', ' has no address and no directory'],
    ['{ address: x, management: { secret: s } }', '.management.secret is set without management.url'],
    [
      '{ address: x, rcon: { address: h, passwordFile: /nowhere } }',
      '.rcon.passwordFile is "/nowhere", which cannot be read (ENOENT); expected a file that contains the secret',
    ],
    [
      '{ address: x, rcon: { address: h, passwordFile: / } }',
      '.rcon.passwordFile is "/", which cannot be read (it is a folder); expected a file that contains the secret',
    ],
    ['{ address: x, rcon: { address: h, password: [p] } }', '.rcon.password: expected a single value, such as secret'],
    ['7', ': expected the settings of a server, such as { name: survival, address: mc.example.org }'],
  ])('is reported with the keys of the file: %s', (entry, expected) => {
    const named = entry.replace('{ ', '{ name: n, ')
    const path = file(`servers:\n  - ${named}\n  - ${named.replace('name: n', 'name: m')}\n`)
    expect(problems({ file: path }).toSorted()).toEqual([0, 1].map((index) => `${path}: servers[${index}]${expected}`))
  })

  it.each<[Record<string, string>, string[]]>([
    [{ MC_SERVER: 'x', MC_VIA_CREDENTIALS: 'user:secret' }, ['MC_VIA_CREDENTIALS is set without MC_VIA']],
    [{ MC_SERVER: 'x', MC_VIA_CREDENTIALS: 'user:secret', MC_VIA: 'socks5://proxy' }, []],
    [
      { MC_SERVER: 'bedrock://x', MC_HOSTNAME: 'y', MC_PROXY_PROTOCOL: 'v2', MC_VIA_CREDENTIALS: 'user:secret' },
      [
        'MC_VIA_CREDENTIALS is set without MC_VIA',
        'MC_HOSTNAME is set for a Bedrock server (bedrock://x:19132); it applies to Java servers only',
        'MC_PROXY_PROTOCOL is set for a Bedrock server (bedrock://x:19132); it applies to Java servers only',
      ],
    ],
    // These use other protocols; Bedrock software has them too, or Geyser runs next to a Java server.
    [{ MC_SERVER: 'bedrock://x', MC_RCON_PASSWORD: 'p', MC_QUERY: 'x', MC_JMX: 'http://x:8778/jolokia' }, []],
    [{ MC_SERVER: 'bedrock://x', MC_ASLEEP_MOTD: 'asleep', MC_VIA: 'http://proxy' }, []],
  ])('or has no effect is reported: %j', (env, expected) => {
    expect(problems({ env })).toEqual(expected)
  })

  it('or has no effect is reported with the keys of the file, for all servers', () => {
    const entry = 'address: "bedrock://x", hostname: y, viaCredentialsFile: FILE'.replace('FILE', file('user:secret'))
    const path = file(`servers:\n  - { name: a, ${entry} }\n  - { name: b, ${entry}, proxyProtocol: v1 }\n`)
    const bedrock = 'is set for a Bedrock server (bedrock://x:19132); it applies to Java servers only'
    expect(problems({ file: path })).toEqual([
      expect.stringMatching(/servers\[0\]\.viaCredentialsFile \(.*\) is set without via$/),
      `${path}: servers[0].hostname ${bedrock}`,
      expect.stringMatching(/servers\[1\]\.viaCredentialsFile \(.*\) is set without via$/),
      `${path}: servers[1].hostname ${bedrock}`,
      `${path}: servers[1].proxyProtocol ${bedrock}`,
    ])
  })

  it('may be half of the credentials of JMX', () => {
    const env = { MC_SERVER: 'x', MC_JMX: 'http://x:8778/jolokia' }
    expect(problems({ env: { ...env, MC_JMX_USER: 'u' } })).toEqual([
      'MC_JMX_USER is set without MC_JMX_PASSWORD (or MC_JMX_PASSWORD_FILE)',
    ])
    expect(problems({ env: { ...env, MC_JMX_PASSWORD: 'p' } })).toEqual(['MC_JMX_PASSWORD is set without MC_JMX_USER'])
    expect(problems({ env: { ...env, MC_JMX_USER: 'u', MC_JMX_PASSWORD: 'p' } })).toEqual([])
  })

  it('or has no effect through a proxy is a warning, because the status works', () => {
    const via = 'socks5://127.0.0.1:1080'
    expect(load({ env: { MC_SERVER: 'x', MC_QUERY: 'x', MC_VIA: via } }).warnings).toEqual([
      'MC_QUERY has no effect with MC_VIA: it is read over UDP, which does not go through a proxy',
    ])
    const path = file(
      `servers:\n  - { name: a, address: x, via: "${via}" }\n  - { name: b, address: x, query: x, via: "${via}" }\n`,
    )
    expect(load({ file: path }).warnings).toEqual([
      expect.stringMatching(/servers\[1\]\.query has no effect with .*servers\[1\]\.via: it is read over UDP/),
    ])
    expect(load({ env: { MC_SERVER: 'x', MC_QUERY: 'x' } }).warnings).toEqual([])
  })

  it('is reported once for an entry without an address', () => {
    const path = file('servers: [{ name: a, group: b }]\n')
    expect(problems({ file: path })).toEqual([`${path}: servers[0] has no address and no directory`])
  })

  it('is not reported if the file cannot be read', () => {
    const path = file('servers: [{ address: x }\n')
    expect(problems({ file: path, env: { MC_RCON_PASSWORD: 'p', MC_QUERY: 'h' } })).toEqual([expect.stringContaining('line 2')])
    // Other mistakes are still reported.
    expect(problems({ file: path, env: { MC_SERVER: 'bad host' } })).toEqual([
      expect.stringContaining('line 2'),
      expect.stringContaining('MC_SERVER is "bad host"'),
    ])
    const noList = file('servers: { address: x }\n')
    expect(problems({ file: noList, env: { MC_QUERY: 'h' } })).toEqual([
      `${noList}: servers: expected a list, such as servers: [{ name: survival, address: mc.example.org }]`,
    ])
  })

  it('may be a name', () => {
    const path = file('servers:\n  - { address: a }\n  - { address: b }\n  - { name: Server, address: c }\n')
    expect(problems({ file: path })).toEqual([
      `${path}: servers[1] has no name; every server except the first needs one`,
      'two servers have the name "Server"; names must be unique',
    ])
  })
})

describe('names of servers', () => {
  it.each(['a', '...', '.a', 'my server', 'Zoë', '🐺', '%2e', 'a\\b'])('may be %s', (given) => {
    expect(load({ env: { MC_SERVER: 'x', MC_NAME: given } }).servers[0]?.name).toBe(given)
  })

  it.each(['.', '..', ' . ', '/', 'a/b', ' '])('refuses %j', (given) => {
    expect(problems({ env: { MC_NAME: given } })).toEqual([
      `MC_NAME is ${JSON.stringify(given)}; expected ${serverSettings.name.kind.expected}`,
    ])
  })

  it('refuses half a surrogate pair', () => {
    const path = file('servers:\n  - { address: x }\n  - { address: y, name: "a\\uD83D" }\n')
    expect(problems({ file: path })).toEqual([
      expect.stringContaining('servers[1].name is "a\\ud83d"; expected a non-empty name'),
    ])
  })
})

describe('a server known by its directory', () => {
  it('needs no other settings', () => {
    expect(load({ env: { MC_DIRECTORY: folder } }).servers).toEqual([
      { name: 'Server', sources: { directory: { path: folder } } },
    ])
  })

  it('keeps settings that only the directory can complete', () => {
    const fingerprint = 'ab'.repeat(32)
    const env = { MC_DIRECTORY: folder, MC_RCON: 'h', MC_MANAGEMENT_SECRET: 's', MC_MANAGEMENT_FINGERPRINT: fingerprint }
    expect(load({ env }).servers).toEqual([
      {
        name: 'Server',
        sources: {
          directory: { path: folder },
          rcon: { address: { host: 'h', port: 25575 } },
          management: { secret: 's', fingerprint },
        },
      },
    ])
    expect(
      load({ env: { MC_DIRECTORY: folder, MC_SERVER: 'x', MC_RCON_PASSWORD: 'p', MC_MANAGEMENT: 'ws://h:1' } }).servers,
    ).toEqual([
      {
        name: 'Server',
        sources: {
          status: { address: { edition: 'java', host: 'x', port: 25565 } },
          directory: { path: folder },
          rcon: { password: 'p' },
          management: { url: 'ws://h:1/' },
        },
      },
    ])
  })

  it('may have all settings', () => {
    const env = {
      MC_DIRECTORY: folder,
      MC_RCON: 'h:1',
      MC_RCON_PASSWORD: 'p',
      MC_MANAGEMENT: 'ws://h:2',
      MC_MANAGEMENT_SECRET: 's',
      MC_QUERY: 'h:3',
    }
    expect(load({ env }).servers).toEqual([
      {
        name: 'Server',
        sources: {
          directory: { path: folder },
          rcon: { address: { host: 'h', port: 1 }, password: 'p' },
          management: { url: 'ws://h:2/', secret: 's' },
          query: { address: { host: 'h', port: 3 } },
        },
      },
    ])
  })
})

describe('the config file', () => {
  const server = (settings: string) => load({ file: file(`servers:\n  - { address: x, ${settings} }\n`) }).servers[0]

  it.each(['0012', '1.20', '0o17', '0x1F', '1e3', '12345678901234567890', 'true', 'No', '2026-01-01', '"007"', "'~'", 'ä*&!'])(
    'reads %s as written',
    (given) => {
      const written = given.replaceAll(/^['"]|['"]$/g, '')
      expect(server(`name: ${given}, rcon: { address: r, password: ${given} }`)).toMatchObject({
        name: written,
        sources: { rcon: { password: written } },
      })
    },
  )

  it.each(['', '~', 'null', 'Null'])('treats %j as not set', (given) => {
    expect(server(`name: ${given}, rcon: ${given}, query: ${given}`)).toEqual({
      name: 'Server',
      sources: { status: { address: { edition: 'java', host: 'x', port: 25565 } } },
      settingNames: expect.any(Object),
    })
    expect(load({ file: file(`servers: ${given}\npoll:\n`) }).servers).toEqual([])
  })

  it('may contain anchors and aliases', () => {
    const path = file(
      'servers:\n  - { address: a, rcon: &r { address: r, password: &p x } }\n  - { name: b, address: b, rcon: *r }\nruns: { token: *p }\n',
    )
    const { servers, runs } = load({ file: path })
    expect(servers[1]?.sources.rcon).toEqual({ address: { host: 'r', port: 25575 }, password: 'x' })
    expect(runs.runToken).toBe('x')
  })

  it('accepts a list only for settings with several values', () => {
    expect(load({ file: file('probe: { allow: [a.example, 10.0.0.0/8] }\n') }).metrics.probeAllow).toEqual([
      'a.example',
      '10.0.0.0/8',
    ])
    const path = file('runs: { token: [a, b] }\nprobe: { allow: { a: b } }\nhost: {}\n')
    expect(problems({ file: path })).toEqual([
      `${path}: runs.token: expected a single value, such as secret`,
      `${path}: probe.allow: expected a single value or a list of values, such as "*.example.org"`,
      `${path}: host: expected a single value, such as 127.0.0.1`,
    ])
  })

  it.each([
    ['*Sekret9', 'a value that starts with * or & needs quotes'],
    ['&Sekret9', 'a value that starts with * or & needs quotes'],
    ['&Sekret9 Sekret', 'a value that starts with * or & needs quotes'],
    ['!Sekret9', 'a value that starts with ! needs quotes'],
    ['@Sekret9', 'a value that starts with @, ` or % needs quotes'],
    ['Sekret: 9', 'a value that contains ": " needs quotes, and settings of the same level need the same indentation'],
    ['"\\Sekret"', 'within double quotes, write \\ as \\\\, or use single quotes', 16],
    [']Sekret9', 'not valid YAML; a value that starts with punctuation, or has it after a quote or bracket, needs quotes'],
    ['|Sekret9', 'not valid YAML; a value that starts with punctuation, or has it after a quote or bracket, needs quotes', 16],
    ["'Sek'ret", 'not valid YAML; a value that starts with punctuation, or has it after a quote or bracket, needs quotes', 20],
  ])('reports where %s is wrong and what to do, without its content', (given, advice, column = 15) => {
    const path = file(`# Servers\nservers:\n  - address: x\n    rcon:\n      address: r\n      password: ${given}\n`)
    const [first, ...others] = problems({ file: path })
    expect(first).toBe(`${path}, line 6, column ${column + 2}: ${advice}`)
    // The path is made of random letters.
    expect([first, ...others].join().replaceAll(path, '')).not.toMatch(/sek/i)
  })

  it.each([
    ['a: &a [*a]\n', /line 1, column 8: a value that starts/],
    ['? [a]\n: b\n', /line 1, column 3: expected the name of a setting/],
    ['host: a\nhost: b\n', /line 2, column 1: duplicate key/],
    ['\thost: a\n', /line 1, column 1: indent with spaces/],
    ['host: a\n---\nhost: b\n', /line 2, column 1: expected one document/],
    ['servers: [a\n', /line 2, column 1: .* closed brackets/],
    ['host: "a\n', /line 2, column 1: a quote or a bracket is not closed/],
    ['- '.repeat(1_000), /it has more than 64 nested levels/],
    [`a: ${'['.repeat(2_000_000)}`, /it has more than 64 nested levels/],
    [Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join(''), /it has more than 64 nested levels/],
    ['"1": a\n1: b\n', /line 2, column 1: duplicate key/],
  ])('refuses %j', (text, expected) => {
    expect(problems({ file: file(text) })).toEqual([expect.stringMatching(expected)])
  })
})

describe('secrets', () => {
  it('are read from files named in the environment and in the config file', () => {
    const path = join(folder, 'password')
    writeFileSync(path, 'from-a-file\n')
    expect(load({ env: { MC_SERVER: 'x', MC_RCON_PASSWORD_FILE: path } }).servers[0]?.sources.rcon).toEqual({
      password: 'from-a-file',
    })
    const config = load({ file: file(`servers:\n  - { address: x, rcon: { address: "y:1", passwordFile: "${path}" } }\n`) })
    expect(config.servers[0]?.sources.rcon).toEqual({ address: { host: 'y', port: 1 }, password: 'from-a-file' })
    expect(load({ flags: { METRICS_TOKEN_FILE: path } }).metrics.metricsToken).toBe('from-a-file')
  })

  it('in an unreadable file prevent the start', () => {
    expect(problems({ env: { RUN_TOKEN_FILE: join(folder, 'nothing') } })).toEqual([expect.stringContaining('RUN_TOKEN_FILE is')])
  })

  it('and a config file that never end prevent the start', () => {
    expect(problems({ env: { RUN_TOKEN_FILE: '/dev/zero' }, file: '/dev/zero' })).toEqual([
      '/dev/zero: cannot be read (it has 16777217 bytes; the maximum is 16777216)',
      expect.stringContaining('which cannot be read (it has 65537 bytes; the maximum is 65536)'),
    ])
  })
})

describe('many servers', () => {
  it('are read as documented, in order', () => {
    const config = load({
      file: file(`listen: 127.0.0.1:8080
poll: { interval: 5s, timeout: 3s }
servers:
  - { name: survival, address: mc.example.org, rcon: { address: "mc.example.org:25575", password: x } }
  - { name: lobby, address: "bedrock://lobby.example.org:19132" }
  - { name: new, address: n, management: { url: "wss://n:9000", secret: s, fingerprint: "${'AB:'.repeat(31)}AB" }, query: n }
`),
    })
    expect(config.servers.map(({ settingNames, ...server }) => server)).toEqual([
      {
        name: 'survival',
        sources: {
          status: { address: { edition: 'java', host: 'mc.example.org', port: 25565 } },
          rcon: { address: { host: 'mc.example.org', port: 25575 }, password: 'x' },
        },
      },
      { name: 'lobby', sources: { status: { address: { edition: 'bedrock', host: 'lobby.example.org', port: 19132 } } } },
      {
        name: 'new',
        sources: {
          status: { address: { edition: 'java', host: 'n', port: 25565 } },
          management: { url: 'wss://n:9000/', secret: 's', fingerprint: 'ab'.repeat(32) },
          query: { address: { host: 'n', port: 25565 } },
        },
      },
    ])
  })

  it('the environment configures the first', () => {
    const config = load({
      env: { MC_SERVER: 'other', MC_NAME: 'mine' },
      file: file('servers:\n  - { address: a }\n  - { name: b, address: b }\n'),
    })
    expect(config.servers.map((server) => [server.name, addressOf(server)?.host])).toEqual([
      ['mine', 'other'],
      ['b', 'b'],
    ])
  })
})

describe('a likely mistake', () => {
  const serving = (env: Record<string, string>, file?: string) => problems({ env, watches: true, ...(file && { file }) })

  it.each([
    ['MC_SEVER', 'MC_SERVER'],
    ['MC_SERVERS', 'MC_SERVER'],
    ['MC_RCON_PASSWORT', 'MC_RCON_PASSWORD'],
    ['MC_RCON_PASSWORD_FIEL', 'MC_RCON_PASSWORD_FILE'],
    ['MC_DIRCTRY', 'MC_DIRECTORY'],
    ['mc_server', 'MC_SERVER'],
    ['TICKWARDEN_CONIFG', 'TICKWARDEN_CONFIG'],
    ['POLL_INTERVALL', 'POLL_INTERVAL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['METRIC_TOKEN', 'METRICS_TOKEN'],
  ])('is reported with the most similar setting: %s', (name, meant) => {
    expect(problems({ env: { [name]: 'x' } })).toEqual([`${name}: unknown setting; did you mean ${meant}?`])
    expect(problems({ env: { [name]: '' } })).toEqual([])
  })

  it.each(['HOME', 'POST', 'COMMIT', 'GITLAB_TOKEN', 'SPOTIPY_CLIENT_ID', 'PATH', 'HOSTNAME', 'LOGNAME'])(
    'may be %s, which belongs to another program',
    (name) => {
      expect(load({ env: { [name]: 'x' } }).warnings).toEqual([])
    },
  )

  it.each(['MC_PORT', 'MC_PORT_25565_TCP_ADDR', 'MC_SERVICE_HOST', 'TICKWARDEN_SERVICE_PORT'])(
    'causes only a warning if no setting is similar: %s',
    (name) => {
      expect(load({ env: { [name]: 'x', MC_SERVER: 'x' } }).warnings).toEqual([
        `The environment variable ${name} is ignored: unknown setting.`,
      ])
    },
  )

  it('is not in the environment of these tests', () => {
    expect(loadConfig({ watches: false }).warnings).toEqual([])
  })

  it.each(['MC_NAME', 'MC_GROUP'])('is reported for %s without a server', (name) => {
    expect(serving({ [name]: 'x' })).toEqual([`${name} is set without MC_SERVER or MC_DIRECTORY`])
    expect(serving({ [name]: 'x', MC_SERVER: 'x' })).toEqual([])
    expect(serving({ [name]: 'x' }, file('servers: [{ address: x }]'))).toEqual([])
    expect(problems({ env: {}, flags: { [name]: 'x' }, watches: true })).toEqual([
      `--${name.toLowerCase().replace('_', '-')} is set without MC_SERVER or MC_DIRECTORY`,
    ])
  })

  it.each(['', 'listen: 127.0.0.1:8080\n', 'servers:\n', 'servers: []\n', '# servers:\n'])(
    'is reported for a config file that lists no server: %j',
    (text) => {
      const path = file(text)
      expect(serving({}, path)).toEqual([
        `${path}: lists no servers; add one, such as "servers: [{ name: survival, address: mc.example.org }]", or set MC_SERVER or MC_DIRECTORY`,
      ])
      expect(serving({ MC_SERVER: 'x' }, path)).toEqual([])
      // Commands that watch no servers need none.
      expect(problems({ file: path })).toEqual([])
    },
  )
})

describe('files in the working directory', () => {
  const before = process.cwd()
  beforeEach(() => process.chdir(mkdtempSync(join(folder, 'cwd-'))))
  afterEach(() => process.chdir(before))

  it.each(['tickwarden.yaml', 'tickwarden.yml'])('include the settings in %s', (name) => {
    writeFileSync(name, 'servers: [{ name: a, address: a }]')
    expect(load().servers).toMatchObject([{ name: 'a' }])
  })

  it('must not both exist', () => {
    for (const name of ['tickwarden.yaml', 'tickwarden.yml']) writeFileSync(name, 'servers: [{ address: a }]')
    expect(problems({})).toEqual(['tickwarden.yaml and tickwarden.yml both exist; remove one of them'])
  })

  it('are not read with a further extension, with a warning', () => {
    for (const name of ['tickwarden.yaml.txt', '.env.txt']) writeFileSync(name, '')
    expect(loadConfig().warnings).toEqual([
      'tickwarden.yaml.txt is not read; rename it to tickwarden.yaml.',
      '.env.txt is not read; rename it to .env.',
    ])
    writeFileSync('tickwarden.yml', 'servers: [{ address: a }]')
    expect(loadConfig().warnings).toEqual([])
  })

  it('include the variables in .env, over which the environment takes precedence', () => {
    writeFileSync('.env', '# ours\nMC_SERVER="from-file:1"\nPOLL_INTERVAL=7s\nMC_PORT=1\n')
    vi.stubEnv('POLL_INTERVAL', '8s')
    const { servers, poll, warnings } = loadConfig()
    expect(addressOf(servers[0]!)).toMatchObject({ host: 'from-file', port: 1 })
    expect(poll.interval).toBe(8000)
    expect(warnings).toEqual(['The environment variable MC_PORT is ignored: a port belongs to MC_SERVER, as host:port.'])
    writeFileSync('.env', 'MC_SEVER=x\n')
    expect(() => loadConfig()).toThrow('MC_SEVER: unknown setting; did you mean MC_SERVER?')
    vi.unstubAllEnvs()
  })

  it('are given up for a secret of the environment, whichever of the two names of it they have', () => {
    writeFileSync('secret', 'from-file')
    const password = () => loadConfig().servers[0]?.sources.rcon?.password
    writeFileSync('.env', 'MC_SERVER=a\nMC_RCON=a\nMC_RCON_PASSWORD_FILE=missing\n')
    vi.stubEnv('MC_RCON_PASSWORD', 'from-environment')
    expect(password()).toBe('from-environment')
    vi.unstubAllEnvs()
    writeFileSync('.env', 'MC_SERVER=a\nMC_RCON=a\nMC_RCON_PASSWORD=old\n')
    vi.stubEnv('MC_RCON_PASSWORD_FILE', 'secret')
    expect(password()).toBe('from-file')
    vi.unstubAllEnvs()
    expect(password()).toBe('old')
  })

  it('may include a folder named .env', () => {
    mkdirSync('.env')
    expect(loadConfig().servers).toEqual([])
  })
})

describe('wrong keys of the config file', () => {
  const messages = (text: string) => {
    const path = file(text)
    return problems({ file: path }).map((problem) => problem.replace(path, 'f'))
  }

  it.each([
    ['pol: { interval: 5s }', 'line 1: pol: unknown setting; did you mean poll?'],
    ['sever: x', 'line 1: sever: unknown setting; did you mean servers?'],
    ['poll:\n  intervall: 5s', 'line 2: poll.intervall: unknown setting; did you mean poll.interval?'],
    ['interval: 5s', 'line 1: interval: unknown setting; did you mean poll.interval?'],
    ['servers:\n  - address: x\n    adress: y', 'line 3: servers[0].adress: unknown setting; did you mean address?'],
    [
      'servers:\n  - address: x\n    rcon: { pasword: y }',
      'line 3: servers[0].rcon.pasword: unknown setting; did you mean rcon.password?',
    ],
    [
      'servers: [{ address: x, host: y }]',
      'line 1: servers[0].host: unknown setting; did you mean address? It is host or host:port',
    ],
    [
      'servers: [{ address: x, rcon: { port: 1 } }]',
      'line 1: servers[0].rcon.port: unknown setting; did you mean rcon.address? It is host or host:port',
    ],
    ['zzz: 1', 'line 1: zzz: unknown setting; expected one of '],
    ['address: x', 'line 1: address: it is a setting of a server; move it to an entry of servers'],
  ])('are reported with the most similar key: %j', (text, expected) => {
    if (expected.includes('did you mean')) expect(messages(text)[0]).not.toContain('expected')
    expect(messages(text)).toEqual([expect.stringContaining(`f, ${expected}`)])
  })

  it('are reported with all valid keys of the section', () => {
    const [message = ''] = messages('zzz: 1')
    const listed = message.slice(message.indexOf('one of ') + 7).split(', ')
    const keys = Object.values(settings as Record<string, { file?: string; secret?: true }>).flatMap(({ file, secret }) =>
      file === undefined ? [] : [file, ...(secret ? [`${file}File`] : [])],
    )
    expect(listed.toSorted()).toEqual([...keys, 'databases', 'listen', 'maintenance', 'notify', 'servers'].toSorted())
  })

  it.each([
    ['poll:\ninterval: 5s\n', 'line 2: interval: wrong indentation; it belongs to "poll:", indent it further than that line'],
    [
      'servers:\n  - address: x\n    rcon:\n    password: y\n',
      'line 4: servers[0].password: wrong indentation; it belongs to "rcon:", indent it further than that line',
    ],
    [
      'poll:\n  interval: 5s\n  log: { level: warn }\n',
      'line 3: poll.log: wrong indentation; it does not belong to "poll:", indent it like that line',
    ],
    [
      'servers:\n  - address: x\n    rcon:\n      address: y\n      query: z\n',
      'line 5: servers[0].rcon.query: wrong indentation; it does not belong to "rcon:", indent it like that line',
    ],
  ])('are reported as wrong indentation: %j', (text, expected) => {
    expect(messages(text)).toContain(`f, ${expected}`)
  })

  it.each([
    ['servers:\n  - name: a\n    address: b\n   query: x\n', 4],
    ['servers:\n  - name: a\n   address: b\n', 3],
    ['servers:\n  - name: a\n  address: b\n', 3],
    ['servers:\n  - name: a\n      address: b\n', 3],
    ['poll:\n  interval: 5s\n timeout: 3s\n', 3],
    ['poll:\n  interval: 5s\n    timeout: 3s\n', 3],
    ['  listen: a\npoll: b\n', 2],
    ['servers:\n  - name: a\n - name: b\n', 3],
    ['servers:\n  - name: a\n    - name: b\n', 3],
  ])('are reported as wrong indentation if the file is not valid YAML: %j', (text, line) => {
    expect(messages(text)).toEqual([expect.stringMatching(`^f, line ${line}, column \\d+: wrong indentation; `)])
  })

  it.each([
    ['poll: 5s', 'line 1: poll: expected nested settings instead of a value, such as poll: { interval: 5s, timeout: 3s }'],
    ['poll: [5s]', 'line 1: poll: expected nested settings instead of a value, such as poll: { interval: 5s, timeout: 3s }'],
    [
      'servers: [{ address: x, rcon: "h:25575" }]',
      'line 1: servers[0].rcon: expected nested settings instead of a value, such as rcon: { address: "mc.example.org:25575", password: secret }',
    ],
    ['metrics: 9150', 'line 1: metrics: expected nested settings instead of a value, such as metrics: { listen: '],
  ])('are reported with an example of nested settings: %j', (text, expected) => {
    expect(messages(text)).toEqual([expect.stringContaining(`f, ${expected}`)])
  })

  it('have valid examples', () => {
    for (const section of ['poll', 'data', 'runs', 'metrics', 'probe', 'history', 'events', 'pictures', 'page', 'cors', 'log']) {
      const [, example = ''] = /such as (.*)$/.exec(messages(`${section}: x`)[0] ?? '') ?? []
      expect(messages(example), example).toEqual([])
    }
  })
})
