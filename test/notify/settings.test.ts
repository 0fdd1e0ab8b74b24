import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { secretsOfConfig } from '../../src/config/secrets.ts'
import { createQuietCheck } from '../../src/notify/quiet-hours.ts'
import { configProblems } from '../helpers/config-problems.ts'

const folder = mkdtempSync(join(tmpdir(), 'notify-settings-'))
let files = 0
function write(content: string): string {
  const path = join(folder, `${files++}`)
  writeFileSync(path, content)
  return path
}

const servers = 'servers: [{ name: a, address: mc.example.org }]\n'
function problemsOf(text: string): readonly string[] {
  const file = write(servers + text)
  return configProblems({ env: {}, file }).map((problem) => problem.replaceAll(file, 'f'))
}
const channel = (settings: string) => problemsOf(`notify: { channels: [{ name: ops, ${settings} }] }`)
const hook = 'type: webhook, url: "https://example.org/hook"'

describe('notify', () => {
  it('has defaults', () => {
    const { notify } = loadConfig({ env: {}, file: write(`${servers}notify: { channels: [{ name: ops, ${hook} }] }`) })
    expect(notify).toMatchObject({ allowPrivate: false, restartGrace: 120_000, laggingBelow: 0.9 })
    expect(notify?.channels[0]).toMatchObject({
      events: ['down', 'up', 'hung'],
      servers: [],
      after: 2,
      for: 0,
      repeat: 0,
      statusMessage: false,
    })
  })

  it('reads every channel, and its secrets from files', () => {
    const secret = write('https://example.org/secret-path/token123\n')
    const file = write(`${servers}notify:
  quietHours: { from: "23:00", to: "07:00", timezone: Europe/Berlin, except: [down] }
  channels:
    - { type: webhook, name: a, url: "https://example.org/hook", secretFile: ${write('signing-key\n')}, template: "{server} is {event}" }
    - { type: discord, name: b, urlFile: ${secret}, statusMessage: true, events: [] }
    - { type: slack, name: c, urlFile: ${secret}, template: { down: "{server}!" }, groups: [eu] }
    - { type: ntfy, name: d, url: "https://ntfy.sh/topic", token: tk_1 }
    - { type: telegram, name: e, token: "123:abcdefgh", chat: "-100" }
    - { type: email, name: f, url: "smtps://user:mail-password@mail.example.org", from: a@example.org, to: b@example.org }
    - { type: email, name: g, url: "smtps://user:100%zz@mail.example.org", from: a@example.org, to: b@example.org }
`)
    const config = loadConfig({ env: {}, file })
    expect(config.notify?.channels.map(({ type }) => type.type)).toEqual([
      'webhook',
      'discord',
      'slack',
      'ntfy',
      'telegram',
      'email',
      'email',
    ])
    expect(config.notify?.channels[1]?.values.url).toBe('https://example.org/secret-path/token123')
    const secrets = secretsOfConfig(config, [])
    for (const one of ['signing-key', '/secret-path/token123', '123:abcdefgh', 'mail-password', '100%zz', 'tk_1'])
      expect(secrets).toContain(one)
  })

  it.each([
    [
      'type: webhok',
      'f: notify.channels[0].type: it is "webhok"; expected one of webhook, discord, slack, ntfy, telegram, email',
    ],
    [
      'type: webhook',
      'f: notify.channels[0].url: it is missing; expected a URL that starts with https:// or http://, or urlFile with the path of a file that contains it',
    ],
    [
      `${hook}, evnets: [down]`,
      expect.stringContaining('notify.channels[0].evnets: unknown setting; expected one of type, name, events'),
    ],
    [
      `${hook}, events: [dwon]`,
      expect.stringContaining('notify.channels[0].events: "dwon" is not an event; expected some of down, up'),
    ],
    [`${hook}, events: []`, expect.stringContaining('notify.channels[0].events: expected at least one of down')],
    [`${hook}, after: 0`, 'f: notify.channels[0].after: it is "0"; expected an integer from 1 to 100'],
    [
      `${hook}, for: soon`,
      'f: notify.channels[0].for: it is "soon"; expected a duration from 0s to 7d, such as 500ms, 5s, 2m or 1h',
    ],
    [
      `${hook}, template: "{sever} is down"`,
      expect.stringContaining('notify.channels[0].template: {sever} is not a variable; expected some of server, group'),
    ],
    [`${hook}, template: { dwon: x }`, expect.stringContaining('template: "dwon" is not an event')],
    [`${hook}, statusMessage: true`, 'f: notify.channels[0].statusMessage: only channels of type discord have a status message'],
    [
      'type: webhook, url: "ftp://user:hunter22@x"',
      'f: notify.channels[0].url: the value (not shown) is not valid; expected a URL that starts with https:// or http://',
    ],
    [`${hook}, secret: x, secretFile: y`, 'f: notify.channels[0].secret: secret and secretFile are both set; remove one of them'],
    [
      `${hook}, secretFile: /nonexistent`,
      expect.stringContaining('notify.channels[0].secretFile: it is "/nonexistent", which cannot be read (ENOENT)'),
    ],
  ])('names the mistake in %s', (settings, problem) => {
    expect(channel(settings)).toEqual([problem])
  })

  it('names mistakes outside of channels', () => {
    expect(problemsOf('notify: 1')).toEqual([expect.stringContaining('f: notify: expected its settings')])
    expect(problemsOf(`notify: { channels: [{ name: a, ${hook} }, { name: A, ${hook} }] }`)).toEqual([
      'f: notify.channels: two channels have the name "A"; names must be unique',
    ])
    expect(
      problemsOf(
        'notify: { quietHours: { from: "25:00", to: "7", timezone: Mars, except: [x] }, restartGrace: -1, allowPrivate: yes }',
      ),
    ).toHaveLength(6)
  })
})

describe('maintenance', () => {
  const window = (settings: string) => problemsOf(`maintenance: [{ servers: [a], ${settings} }]`)

  it.each([
    ['schedule: "0 4 * * *", duration: 30m, timezone: Europe/Berlin, reason: x'],
    ['from: 2026-12-01T20:00:00Z, to: 2026-12-01T22:00:00+01:00, name: upgrade'],
  ])('accepts %s', (settings) => {
    expect(window(settings)).toEqual([])
  })

  it.each([
    [
      'schedule: "0 4 30 2 *", duration: 30m',
      expect.stringContaining('maintenance[0].schedule: it is "0 4 30 2 *"; expected a cron expression'),
    ],
    ['schedule: "0 4 * * *"', expect.stringContaining('maintenance[0].duration: it is missing')],
    ['schedule: "0 4 * * *", duration: 30m, timezone: Mars', expect.stringContaining('maintenance[0].timezone: it is "Mars"')],
    [
      'schedule: "0 4 * * *", duration: 30m, to: 2026-12-01T22:00:00Z',
      expect.stringContaining('expected either schedule and duration, or from and to'),
    ],
    ['from: 2026-12-01T20:00:00Z, to: 2026-12-01T19:00:00Z', 'f: maintenance[0].to: it is not after from'],
    [
      'from: 2026-12-01 20:00, to: 2026-12-01T19:00:00Z',
      expect.stringContaining('maintenance[0].from: it is "2026-12-01 20:00"; expected a time with a time zone'),
    ],
    ['from: 2026-02-30T20:00:00Z, to: 2026-12-01T19:00:00Z', expect.stringContaining('maintenance[0].from')],
    ['from: 2026-13-01T20:00:00Z, to: 2026-12-01T19:00:00Z', expect.stringContaining('maintenance[0].from: it is "2026-13-01')],
    [
      'from: tomorrow, to: 2026-12-01T19:00:00Z',
      expect.stringContaining('maintenance[0].from: it is "tomorrow"; expected a time'),
    ],
    ['reason: x', expect.stringContaining('maintenance[0]: expected schedule and duration, or from and to')],
  ])('names the mistake in %s', (settings, problem) => {
    expect(window(settings)).toEqual([problem])
  })
})

it('quiet hours follow their time zone, and may include midnight', () => {
  const isQuiet = createQuietCheck({ from: 23 * 60, to: 7 * 60, timezone: 'Europe/Berlin', except: [] })
  expect(['21:59', '22:00', '05:59', '06:00'].map((time) => isQuiet(Date.parse(`2026-01-10T${time}:00Z`)))).toEqual([
    false,
    true,
    true,
    false,
  ])
  // Summer time.
  expect(['20:59', '21:00', '04:59', '05:00'].map((time) => isQuiet(Date.parse(`2026-07-10T${time}:00Z`)))).toEqual([
    false,
    true,
    true,
    false,
  ])
})
