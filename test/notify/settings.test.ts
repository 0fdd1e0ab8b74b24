import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { secretsOfConfig } from '../../src/config/secrets.ts'
import { eventNames } from '../../src/notify/notification.ts'
import { createQuietCheck } from '../../src/notify/quiet-hours.ts'
import { secretsOfNotify } from '../../src/notify/settings.ts'
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
/** Valid settings as read. */
const read = (settings: string) => loadConfig({ env: {}, file: write(`${servers}notify: ${settings}`) }).notify
const readChannel = (settings: string) => read(`{ channels: [{ name: ops, ${settings} }] }`)?.channels[0]
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
      expect.stringMatching(/^f: notify\.channels\[0\]\.type: it is "webhok"; expected one of webhook, discord, /),
    ],
    [
      'type: webhook',
      'f: notify.channels[0].url: it is missing; expected a URL that starts with https:// or http://, or urlFile with the path of a file that contains it',
    ],
    [
      'type: email, url: "smtps://mail.example.org", from: tickwarden, to: "Ops <ops@example.org>"',
      'f: notify.channels[0].from: it is "tickwarden"; expected a mail address such as ops@example.org, or several with commas between them',
    ],
    [
      'type: email, url: "smtps://mail.example.org", password: hunter22, from: a@example.org, to: b@example.org',
      'f: notify.channels[0].password: the url names no user; expected one such as smtps://user@mail.example.org',
    ],
    [
      'type: email, url: "smtps://:hunter22@mail.example.org", from: a@example.org, to: b@example.org',
      'f: notify.channels[0].url: the url names no user; expected one such as smtps://user@mail.example.org',
    ],
    [
      `${hook}, colour: red`,
      expect.stringContaining('notify.channels[0].colour: unknown setting; expected one of type, name, events'),
    ],
    [`${hook}, evnets: [down]`, 'f: notify.channels[0].evnets: unknown setting; did you mean events?'],
    [
      `${hook}, events: [dwon]`,
      expect.stringContaining('notify.channels[0].events: "dwon" is not an event; expected some of down, up'),
    ],
    [`${hook}, events: []`, expect.stringContaining('notify.channels[0].events: expected at least one of down')],
    [`${hook}, servers: []`, 'f: notify.channels[0].servers: expected at least one name; remove the key for all'],
    [`${hook}, servers: null`, 'f: notify.channels[0].servers: expected at least one name; remove the key for all'],
    [`${hook}, groups: []`, 'f: notify.channels[0].groups: expected at least one name; remove the key for all'],
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

  it.each([
    ['after: 1', { after: 1 }],
    ['after: 10', { after: 10 }],
    ['after: 99', { after: 99 }],
    ['after: 100', { after: 100 }],
    ['for: 0s, repeat: 7d, minPause: 90s', { for: 0, repeat: 604_800_000, minPause: 90_000 }],
    ['events: [up, restart, up]', undefined],
    ['events: [up, join, up]', { events: ['up', 'join'] }],
    ['servers: [a, "b*"], groups: [eu]', { servers: ['a', 'b*'], groups: ['eu'] }],
    ['template: "{server}"', { templates: Object.fromEntries([...eventNames, 'restart'].map((event) => [event, '{server}'])) }],
    [
      'template: { down: "{server}!", restart: "{server} restarted" }',
      { templates: { down: '{server}!', restart: '{server} restarted' } },
    ],
  ])('reads %s', (settings, expected) => {
    if (expected === undefined) expect(channel(`${hook}, ${settings}`)).toHaveLength(1)
    else expect(readChannel(`${hook}, ${settings}`)).toMatchObject(expected)
  })

  it('tells of no events on a channel that only has a status message', () => {
    expect(readChannel('type: discord, url: "https://example.org/hook", statusMessage: true')).toMatchObject({
      statusMessage: true,
      events: [],
    })
    expect(readChannel('type: discord, url: "https://example.org/hook"')).toMatchObject({
      statusMessage: false,
      events: ['down', 'up', 'hung'],
    })
    const both = readChannel('type: discord, url: "https://example.org/hook", statusMessage: true, events: [down]')
    expect(both).toMatchObject({ statusMessage: true, events: ['down'] })
  })

  it('reads what all channels share', () => {
    expect(read('{}')).toEqual({
      ...{
        channels: [],
        allowPrivate: false,
        restartGrace: 120_000,
        laggingBelow: 0.9,
        laggingFor: 60_000,
        troubleAfter: 600_000,
      },
    })
    expect(
      read(
        '{ allowPrivate: true, restartGrace: 0s, laggingBelow: 0.5, laggingFor: 2m, troubleAfter: 1h, publicUrl: "https://example.org/mc" }',
      ),
    ).toEqual({
      ...{ channels: [], allowPrivate: true, restartGrace: 0, laggingBelow: 0.5, laggingFor: 120_000, troubleAfter: 3_600_000 },
      publicUrl: 'https://example.org/mc/',
    })
    expect(read('{ publicUrl: "https://example.org/" }')?.publicUrl).toBe('https://example.org/')
    expect(read('{ quietHours: { from: "00:00", to: "7:30" } }')?.quietHours).toEqual({
      from: 0,
      to: 450,
      timezone: 'UTC',
      except: [],
    })
  })

  it.each(['0.01', '0.5', '.25', '0.123456', '1', '1.0'])('accepts laggingBelow: %s', (value) => {
    expect(read(`{ laggingBelow: "${value}" }`)?.laggingBelow).toBe(Number(value))
  })

  it.each(['0', '0.009', '1.1', '10', '0.1234567', 'x0.5', '0.5x', '11.0', '1.00'])('refuses laggingBelow: %s', (value) => {
    expect(problemsOf(`notify: { laggingBelow: "${value}" }`)).toEqual([
      `f: notify.laggingBelow: it is "${value}"; expected a number from 0.01 to 1, such as 0.9`,
    ])
  })

  it.each(['101', '1000', '00', '05', 'x5', '5x'])('refuses after: %s', (value) => {
    expect(channel(`${hook}, after: "${value}"`)).toEqual([
      `f: notify.channels[0].after: it is "${value}"; expected an integer from 1 to 100`,
    ])
  })

  it('takes up to 50 channels, with names of up to 40 characters', () => {
    const list = (count: number) =>
      `notify: { channels: [${Array.from({ length: count }, (_, index) => `{ name: c${index}, ${hook} }`).join(', ')}] }`
    expect(problemsOf(list(50))).toEqual([])
    expect(problemsOf(list(51))).toEqual(['f: notify.channels: expected a list of at most 50 channels'])
    expect(problemsOf('notify: { channels: { name: a } }')).toEqual([
      'f: notify.channels: expected a list of at most 50 channels',
    ])
    const named = (name: string) => problemsOf(`notify: { channels: [{ name: "${name}", ${hook} }] }`)
    expect(named('a.b-C_4'.padEnd(40, 'x'))).toEqual([])
    for (const name of ['x'.repeat(41), 'a b', '../a', ''])
      expect(named(name)).toEqual([expect.stringContaining('expected 1 to 40 letters, digits and - . _')])
    expect(problemsOf(`notify: { channels: [{ ${hook} }] }`)).toEqual([
      expect.stringContaining('channels[0].name: it is missing'),
    ])
  })

  it('names every mistake of a channel', () => {
    expect(problemsOf('notify: { channels: [webhook] }')).toEqual([
      'f: notify.channels[0]: expected a channel, such as { type: webhook, name: ops, url: "https://example.org/hook" }',
    ])
    // Nothing is said of the other settings of a type that is not known.
    expect(channel('type: webhok, url: x, chat: y')).toHaveLength(1)
    expect(channel(`${hook}, template: { down: "" , up: 3, hung: "{a} {b}", "${'long'.repeat(30)}": x }`)).toEqual([
      expect.stringContaining('expected a text, or a text for each event, such as { down: "{server} is down" }'),
      expect.stringContaining('{a} is not a variable'),
      expect.stringContaining('{b} is not a variable'),
      expect.stringContaining(`template: "${'long'.repeat(15)}" is not an event; expected some of down, up`),
    ])
    expect(channel(`${hook}, template: "  "`)).toEqual([expect.stringContaining('template: expected a text')])
    expect(channel(`${hook}, template: "{sever}"`)).toHaveLength(1)
    expect(channel(`${hook}, events: ["${'long'.repeat(30)}"]`)).toEqual([
      expect.stringContaining(`events: "${'long'.repeat(15)}" is not an event`),
    ])
    expect(channel('type: discord, url: "https://example.org/hook", statusMessage: true, events: []')).toEqual([])
  })

  it('names mistakes of quiet hours', () => {
    const quiet = (settings: string) => problemsOf(`notify: { quietHours: ${settings} }`)
    expect(quiet('"23:00"')).toEqual([
      'f: notify.quietHours: expected the hours, such as { from: "23:00", to: "07:00", timezone: Europe/Berlin }',
    ])
    expect(quiet('{ from: "23:00", to: "23:00" }')).toEqual([
      'f: notify.quietHours.to: it is the same as from; expected another time',
    ])
    expect(quiet('{ to: "07:00" }')).toEqual([
      'f: notify.quietHours.from: it is missing or not a single value; expected a time such as "23:00"',
    ])
    expect(quiet('{ from: "23:00" }')).toEqual([expect.stringContaining('quietHours.to: it is missing')])
    expect(quiet('{ from: "24:00", to: "07:00", unitl: "08:00" }')).toEqual([
      'f: notify.quietHours.unitl: unknown setting; expected one of from, to, timezone, except',
      'f: notify.quietHours.from: it is "24:00"; expected a time such as "23:00"',
    ])
    expect(quiet('{}')).toHaveLength(2)
  })

  it('has no secrets but those of its channels', () => {
    const secretsOf = (settings: string) => {
      const notify = read(`{ channels: [{ name: ops, ${settings} }] }`)
      return notify && secretsOfNotify(notify)
    }
    expect(secretsOf('type: webhook, url: "https://example.org/hook?key=abc", secret: signing')).toEqual(['?key=abc', 'signing'])
    expect(secretsOf('type: webhook, url: "https://example.org/longer-path"')).toEqual(['/longer-path'])
    expect(secretsOf('type: webhook, url: "https://user:pass%20word@example.org/"')).toEqual(['pass word'])
    expect(secretsOf('type: ntfy, url: "https://ntfy.sh/topic"')).toEqual([])
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

  it('does not take an empty list for all servers', () => {
    expect(problemsOf('maintenance: [{ servers: [], schedule: "0 4 * * *", duration: 30m }]')).toEqual([
      'f: maintenance[0].servers: expected at least one name; remove the key for all',
    ])
  })

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
    [
      'schedule: "0 4 * * *", duration: 30s',
      expect.stringContaining('duration: it is "30s"; expected a duration from 1m to 7d, such as 2m or 1h'),
    ],
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
