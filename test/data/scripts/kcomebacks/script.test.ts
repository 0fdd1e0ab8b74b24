import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runUpdate, type UpdateOptions } from '../../../../src/commands/update.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import { runKcomebacks } from '../../../../src/data/scripts/kcomebacks/script.ts'
import {
  noCounts,
  noProgress,
  type Outcome,
  type RunContext,
  type RunResult,
  scriptSettings,
} from '../../../../src/data/scripts/script.ts'
import type { Clock } from '../../../../src/util/clock.ts'
import { archiveOf, type FakeReddit, startFakeReddit, tableOf } from '../../../helpers/fake-reddit.ts'
import { fastClock } from '../../../helpers/fast-clock.ts'
import { skippingClock } from '../../../helpers/skipping-clock.ts'

/** The clock is in February 2024, like the wiki. */
const today = Date.UTC(2024, 1, 20, 12)

const row = (day: string, artist: string, title: string) =>
  `|${day}|18:00|*${artist}*|*${title}*|Mini Album|[${title}](/d${title})|[Spotify](https://s/${title})`

let reddit: FakeReddit
let folder: string
let clock: Clock
/** What the last run has logged or shown. */
let output: string[]
/** The result of the last run. */
let last: RunResult & Pick<RunContext, 'counts'>
/** Ends the last request as if it had taken too long. */
let late: AbortController

beforeEach(async () => {
  reddit = await startFakeReddit()
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  clock = skippingClock(today)
  reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february', '2024/january', '2023/December', '2023/november']))
  reddit.pages.set('upcoming-releases/2023/november', tableOf(row('1st', 'A', 'a1'), row('2nd', 'B', 'b1')))
  reddit.pages.set('upcoming-releases/2023/december', tableOf(row('3rd', 'C', 'c1'), row('', 'D', 'd1')))
  reddit.pages.set('upcoming-releases/2024/january', tableOf(row('4th', 'E', 'e1'), row('5th', 'F', 'f1')))
  reddit.pages.set('upcoming-releases/2024/february', tableOf(row('6th', 'G', 'g1'), row('TBA', 'H', 'h1')))
})
afterEach(() => {
  vi.restoreAllMocks()
  reddit.close()
  rmSync(folder, { recursive: true })
})

const configOf = (more: Record<string, string | undefined>) =>
  loadConfig({
    env: {
      DATA_DIR: folder,
      REDDIT_AUTH_URL: reddit.url,
      REDDIT_API_URL: reddit.url,
      REDDIT_CLIENT_ID: reddit.id,
      REDDIT_CLIENT_SECRET: reddit.secret,
      ...more,
    },
  })

/** Runs the script as in the service, without its lock and record. @returns the outcome */
async function run(options: Partial<RunContext> = {}, env: Record<string, string | undefined> = {}): Promise<Outcome> {
  output = []
  reddit.requested.length = 0
  const print = (...parts: unknown[]) =>
    void output.push(parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' '))
  const end = new AbortController()
  const counts = { ...noCounts }
  const context: RunContext = {
    ...{ values: scriptSettings(configOf(env)), dataDir: folder, signal: end.signal, clock, counts },
    log: { debug: print, info: print, warn: print, error: print },
    ...{ progress: noProgress, full: false, dryRun: false, force: false, ...options },
  }
  try {
    last = { ...(await runKcomebacks(context)), counts }
    return last.outcome
  } finally {
    // Closes the connections.
    end.abort()
  }
}

/** Runs `tickwarden update kcomebacks`. @returns the exit code */
async function update(order: Partial<UpdateOptions> = {}, env: Record<string, string | undefined> = {}, signal?: AbortSignal) {
  output = []
  reddit.requested.length = 0
  const stream = {
    write(text: string) {
      output.push(text)
      return true
    },
  }
  return runUpdate({ script: 'kcomebacks', full: false, force: false, dryRun: false, ...order }, configOf(env), {
    ...{ stdout: stream, stderr: stream, signal: signal ?? new AbortController().signal },
    clock: fastClock(clock.wall(), 20),
  })
}
const lastRecord = () => JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8')).runs.at(-1)

const nextWeek = () => {
  clock = skippingClock(today + 7 * 86_400_000)
}

const path = () => join(folder, 'kcomebacks.json')
const entries = (): { artist: string; date: string }[] => JSON.parse(readFileSync(path(), 'utf8')).slice(1)
const artists = () =>
  entries()
    .map(({ artist }) => artist)
    .join('')
const page = (name: string) => `upcoming-releases/${name}`

describe('the update of the comebacks', () => {
  it('writes the whole wiki, byte for byte', async () => {
    expect(await update()).toBe(0)
    const [head, ...lines] = readFileSync(path(), 'utf8').split('\n').slice(1)
    expect(head).toMatch(/^\{"last_update":"2024-02-20 12:\d\d:\d\d UTC"\},$/)
    const line = (date: string, artist: string, title: string, end = ',') =>
      `{"date":"${date}","time":"18:00","artist":"${artist}","title":"${title}","types":["album","mini"],"links":["https://s/${title}","https://www.reddit.com/d${title}"]}${end}`
    expect(lines).toEqual([
      line('2023-11-1', 'A', 'a1'),
      line('2023-11-2', 'B', 'b1'),
      line('2023-12-3', 'C', 'c1'),
      line('2023-12-3', 'D', 'd1'),
      line('2024-01-4', 'E', 'e1'),
      line('2024-01-5', 'F', 'f1'),
      line('2024-02-6', 'G', 'g1'),
      line('2024-02-TBA', 'H', 'h1', ''),
      ']',
      '',
    ])
    expect(reddit.requested).toEqual([
      'token',
      ...['archive', '2024/february', '2024/january', '2023/december', '2023/november'].map(page),
    ])
    expect(lastRecord()).toMatchObject({
      script: 'kcomebacks',
      trigger: 'command',
      outcome: 'done',
      counts: { read: 12, added: 8, changed: 0, unchanged: 0, rejected: 4 },
      errors: [],
    })
  })

  it('reads only possible changes again, detected by revision', async () => {
    await run()
    nextWeek()
    reddit.pages.set(page('2023/november'), tableOf(row('1st', 'A', 'a1'), row('2nd', 'B', 'b1'), row('3rd', 'X', 'x1')))
    reddit.pages.set(page('2024/february'), tableOf(row('7th', 'G', 'g1'), row('TBA', 'H', 'h1')))
    expect(await run()).toBe('done')
    expect(artists()).toBe('ABXCDEFGH')
    expect(entries().at(-2)?.date).toBe('2024-02-7')
    expect(reddit.requested).toContain(page('2023/december'))
    // December is not read again; January and February always are.
    expect(last.counts).toEqual({ read: 10, added: 1, changed: 1, unchanged: 5, rejected: 3 })

    expect(await run({ full: true })).toBe('done')
    expect(last.counts).toEqual({ read: 13, added: 0, changed: 0, unchanged: 9, rejected: 4 })
  })

  it('reads past months again only once a week, or with --full', async () => {
    const daily = ['token', ...['archive', '2024/february', '2024/january'].map(page)]
    const all = [...daily, ...['2023/december', '2023/november'].map(page)]
    await run()
    // A weekly run may start half a day early.
    const week = today + 6.5 * 86_400_000
    for (const wall of [today, today + 86_400_000, today + 2 * 86_400_000, week - 1]) {
      clock = skippingClock(wall)
      expect(await run()).toBe('done')
      expect(reddit.requested).toEqual(daily)
    }
    clock = skippingClock(week)
    expect(await run()).toBe('done')
    expect(reddit.requested).toEqual(all)
    clock = skippingClock(today)
    expect(await run()).toBe('done')
    expect(reddit.requested).toEqual(all)
    clock = skippingClock(today + 7 * 86_400_000)
    expect(await run()).toBe('done')
    expect(reddit.requested).toEqual(all)
    clock = skippingClock(today + 8 * 86_400_000)
    expect(await run()).toBe('done')
    expect(reddit.requested).toEqual(daily)
    expect(await run({ full: true })).toBe('done')
    expect(reddit.requested).toEqual(all)
    expect(artists()).toBe('ABCDEFGH')
    // A clock that was wrong.
    clock = skippingClock(today)
    expect(await run()).toBe('done')
    expect(reddit.requested).toEqual(all)
  })

  it.each([
    ['2024-02-29T14:59:59.999Z', ['2024/february', '2024/january']],
    ['2024-02-29T15:00:00.000Z', ['2024/february']],
  ])('reads the previous month daily, in the time of Korea: at %s', async (time, fresh) => {
    clock = skippingClock(Date.parse(time) - 86_400_000)
    await run()
    clock = skippingClock(Date.parse(time))
    expect(await run()).toBe('done')
    expect(reddit.requested).toEqual(['token', ...['archive', ...fresh].map(page)])
  })

  it('fails if the archive links to no month, and keeps what it has published', async () => {
    await run()
    const before = readFileSync(path(), 'utf8')
    reddit.pages.set('upcoming-releases/archive', 'The archive has moved.')
    await expect(run({ full: true })).rejects.toThrow('/wiki/upcoming-releases/archive links to no month')
    expect(readFileSync(path(), 'utf8')).toBe(before)
  })

  it('reports a link of the archive that is no month, and reads the others', async () => {
    reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february', '2024/smarch', '2024/january']))
    expect(await run()).toBe('partly')
    expect(last.errors).toEqual(['upcoming-releases/2024/smarch is not the page of a month'])
    expect(output).toContain('kcomebacks: upcoming-releases/2024/smarch is not the page of a month')
    expect(artists()).toBe('EFGH')
  })

  it('follows no redirect', async () => {
    const locations = [
      'https://example.org/r/kpop/user',
      '//[',
      '/r/other/wiki/upcoming-releases/2023/december',
      '/r/kpop/wiki/dec',
    ]
    reddit.instead.set(
      page('2023/december'),
      locations.map((location) => (_request, response) => response.writeHead(302, { location }).end()),
    )
    for (const _ of locations) {
      expect(await run({ full: true })).toBe('partly')
      expect(reddit.requested.filter((requested) => requested.includes('/december'))).toHaveLength(1)
    }
  })

  it('loses no rows to characters that other parsers treat as line ends', async () => {
    const rows = Array.from({ length: 200 }, (_, index) => row(`${1 + (index % 28)}th`, `artist ${index}`, 't'))
    for (const [index, character] of ['\u2028', '\u2029', '\u0085', '\u000b'].entries()) {
      rows[50 * index + 3] = row('5th', `art${character}ist`, 't')
    }
    reddit.pages.set(page('2024/january'), tableOf(...rows))
    expect(await run()).toBe('done')
    expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(200)
  })

  it('keeps the entries of a month that has lost more than 20 % of them, and reports the missing ones', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => row(`${index + 1}th`, 'E', `e${index}`))
    reddit.pages.set(page('2024/january'), tableOf(...rows))
    await run()
    reddit.pages.set(page('2024/january'), tableOf(...rows.slice(5)))
    expect(await run()).toBe('partly')
    expect(entries()).toHaveLength(26)
    expect(last).toMatchObject({
      outcome: 'partly',
      errors: [
        `${page('2024/january')}: the page has 15 entries, but 20 are stored; missing: ${[0, 1, 2, 3, 4]
          .map((index) => `2024-01-${index + 1} E - e${index}`)
          .join(', ')}; --force accepts it; its stored entries (20) are kept`,
      ],
      // Those of February only: the rows of a page that is refused do not count.
      counts: { read: 3, added: 0, changed: 0, unchanged: 2, rejected: 1 },
    })
    reddit.pages.set(page('2024/january'), tableOf(...rows.slice(4)))
    expect(await run()).toBe('done')
    expect(entries()).toHaveLength(22)
    reddit.pages.set(page('2024/january'), tableOf(rows[5] ?? ''))
    expect(await run({ force: true })).toBe('done')
    expect(entries()).toHaveLength(7)
  })

  it('reads everything again if the snapshot was replaced', async () => {
    await run()
    const changed = readFileSync(path(), 'utf8').replace('"artist":"A"', '"artist":"Somebody else"')
    writeFileSync(path(), changed)
    expect(await run()).toBe('done')
    expect(artists()).toBe('ABCDEFGH')
  })

  it('reads everything again if the parsing rules have changed', async () => {
    await run()
    const file = join(folder, 'kcomebacks.months.json')
    const states = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...states, rules: 1 }))
    expect(await run()).toBe('done')
    expect(last.counts).toMatchObject({ read: 12, unchanged: 8 })
  })

  it('keeps the entries of a month that fails, and continues', async () => {
    await run()
    reddit.pages.delete(page('2024/january'))
    reddit.pages.set(page('2024/february'), tableOf(row('6th', 'G', 'g2'), row('TBA', 'H', 'h1'), row('TBA', 'I', 'i1')))
    expect(await run()).toBe('partly')
    expect(artists()).toBe('ABCDEFGHI')
    expect(last).toMatchObject({
      outcome: 'partly',
      errors: [
        `${page('2024/january')}: Reddit: GET /r/kpop/wiki/${page('2024/january')} answered 404; its stored entries (2) are kept`,
      ],
    })
  })

  it('keeps the entries of a page that was emptied', async () => {
    await run()
    reddit.pages.set(page('2024/january'), 'see you soon')
    expect(await run()).toBe('partly')
    expect(artists()).toBe('ABCDEFGH')
    expect(output.join('')).toContain('the page has 0 entries, but 2 are stored; missing: 2024-01-4 E - e1, 2024-01-5 F - f1')
  })

  it('reports every row that it leaves out, with page and line, and is still done', async () => {
    reddit.pages.set(page('2024/february'), tableOf(row('6th', 'G', 'g1'), '|31st|18:00|Z|z|||', '|7th|||t|||'))
    expect(await run()).toBe('done')
    expect(artists()).toBe('ABCDEFG')
    expect(last.counts).toEqual({ read: 13, added: 7, changed: 0, unchanged: 0, rejected: 6 })
    expect(last.errors).toEqual([
      `${page('2024/february')}, line 6: "31st" is not a day of the month`,
      `${page('2024/february')}, line 7: it has no artist`,
    ])
    expect(output.join('')).toContain('line 6: "31st" is not a day of the month; the row is left out')
  })

  it('reports a time that cannot be parsed, and publishes the row without it', async () => {
    reddit.pages.set(page('2024/february'), tableOf(row('6th', 'G', 'g1').replace('18:00', '18:00?')))
    expect(await run()).toBe('done')
    expect(entries().at(-1)).toMatchObject({ artist: 'G', time: '--:--' })
    expect(last.counts).toEqual({ read: 11, added: 7, changed: 0, unchanged: 0, rejected: 4 })
    const reported = `${page('2024/february')}, line 5: "18:00?" is not a time of day; the entry has no time`
    expect(last.errors).toEqual([reported])
    expect(output.join('')).toContain(reported)
  })

  it.each<[what: string, answer: (response: import('node:http').ServerResponse) => void, times: number]>([
    ['a 5xx', (response) => response.writeHead(502).end('bad gateway'), 2],
    ['a 429', (response) => response.writeHead(429, { 'retry-after': '4' }).end(), 1],
    ['a cut connection', (response) => response.destroy(), 2],
    ['a hang', () => late.abort(), 1],
    ['an expired token', (response) => response.writeHead(401, { 'content-type': 'application/json' }).end('{}'), 1],
  ])('recovers from %s', async (_what, answer, times) => {
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      late = new AbortController()
      return late.signal
    })
    reddit.instead.set(
      page('2024/january'),
      Array(times).fill((_request: unknown, response: never) => answer(response)),
    )
    expect(await run()).toBe('done')
    expect(artists()).toBe('ABCDEFGH')
  })

  it('keeps its entries if it receives HTML instead of JSON', async () => {
    await run()
    reddit.instead.set(page('2024/january'), [
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ])
    expect(await run()).toBe('partly')
    expect(artists()).toBe('ABCDEFGH')
    expect(last.errors[0]).toContain('returned a reply that is not valid JSON')
  })

  it('stops at a rate limit of an hour, publishes the months read so far, and reports the end of the limit', async () => {
    reddit.instead.set(page('2024/january'), [(_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end()])
    expect(await update()).toBe(1)
    expect(artists()).toBe('GH')
    expect(reddit.requested).not.toContain(page('2023/december'))
    expect(lastRecord().outcome).toBe('rate_limited')
    expect(lastRecord().retryAt).toMatch(/^2024-02-20T13:/)
  })

  it('sends no more requests when Reddit is down', async () => {
    await run()
    for (const name of ['2023/november', '2023/december', '2024/january', '2024/february']) {
      reddit.instead.set(
        page(name),
        Array(10).fill((_request: unknown, response: { destroy(): void }) => response.destroy()),
      )
    }
    const before = readFileSync(path(), 'utf8')
    expect(await run({ full: true })).toBe('failed')
    expect(reddit.requested).toContain(page('2023/december'))
    expect(reddit.requested).not.toContain(page('2023/november'))
    expect(readFileSync(path(), 'utf8')).toBe(before)
    expect(last.errors.at(-1)).toBe('upcoming-releases/2023/november: not read: Reddit is down; its stored entries (2) are kept')
  })

  describe('of a wiki with many months', () => {
    const old = ['2023/april', '2023/may', '2023/june', '2023/july', '2023/august', '2023/september', '2023/october']
    beforeEach(() => {
      const months = ['2024/february', '2024/january', '2023/december', '2023/november', ...old.toReversed()]
      reddit.pages.set('upcoming-releases/archive', archiveOf(months))
      for (const name of old) reddit.pages.set(page(name), tableOf(row('1st', name, 't')))
    })
    const lastUpdate = (): string => JSON.parse(readFileSync(path(), 'utf8'))[0].last_update
    const nextDay = () => {
      clock = skippingClock(today + 86_400_000)
    }

    it.each<[what: string, spoil: (name: string) => void]>([
      ['missing', (name) => void reddit.pages.delete(name)],
      ['emptied', (name) => void reddit.pages.set(name, 'see you soon')],
      [
        'garbled',
        (name) =>
          void reddit.instead.set(name, [
            (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
          ]),
      ],
    ])('reads new months even if many old pages are %s', async (_what, spoil) => {
      await run()
      for (const name of old.slice(0, 5)) spoil(page(name))
      reddit.pages.set(page('2024/february'), tableOf(row('6th', 'G', 'g1'), row('TBA', 'H', 'h1'), row('TBA', 'I', 'i1')))
      nextDay()
      expect(await run({ full: true })).toBe('partly')
      expect(artists()).toBe(`${old.join('')}ABCDEFGHI`)
      expect(lastUpdate()).toMatch(/^2024-02-21/)
      expect(last.errors).toHaveLength(5)
    })

    it('publishes the other months if the oldest pages are missing in the first run', async () => {
      for (const name of old.slice(0, 3)) reddit.pages.delete(page(name))
      expect(await run()).toBe('partly')
      expect(artists()).toBe(`${old.slice(3).join('')}ABCDEFGH`)
      expect(last.errors).toHaveLength(3)
      for (const error of last.errors) expect(error).toMatch(/ answered 404; its stored entries \(0\) are kept$/)
    })

    it('tries every new month, but no older one, when Reddit is down', async () => {
      await run()
      const fresh = ['2024/april', '2024/march', '2024/february', '2024/january']
      const months = [...fresh, '2023/december', '2023/november', ...old.toReversed()]
      reddit.pages.set('upcoming-releases/archive', archiveOf(months))
      for (const name of months) {
        reddit.instead.set(
          page(name),
          Array(10).fill((_request: unknown, response: { destroy(): void }) => response.destroy()),
        )
      }
      expect(await run({ full: true })).toBe('failed')
      expect([...new Set(reddit.requested)]).toEqual(['token', ...['archive', ...fresh].map(page)])
      expect(last.errors).toHaveLength(months.length)
    })

    it('continues after failures that are not in a row', async () => {
      await run()
      for (const name of ['2024/february', '2024/january', '2023/november', ...old.slice(-2)]) {
        reddit.instead.set(
          page(name),
          Array(4).fill((_request: unknown, response: { destroy(): void }) => response.destroy()),
        )
      }
      reddit.pages.set(page(old[0] ?? ''), tableOf(row('1st', 'changed', 't')))
      expect(await run({ full: true })).toBe('partly')
      expect(reddit.requested).toContain(page('2023/september'))
      expect(reddit.requested).not.toContain(page('2023/august'))
    })

    it('is current if it has no new months and all others were read this week', async () => {
      reddit.pages.set('upcoming-releases/archive', archiveOf(['2023/december', '2023/november', ...old.toReversed()]))
      expect(await run()).toBe('done')
      nextDay()
      expect(await run()).toBe('done')
      expect(reddit.requested).toEqual(['token', 'upcoming-releases/archive'])
      expect(lastUpdate()).toMatch(/^2024-02-21/)
    })

    it('dates changed data one second later if no new month could be read, for If-Modified-Since', async () => {
      await run()
      const before = lastUpdate()
      for (const name of ['2024/february', '2024/january']) reddit.pages.delete(page(name))
      reddit.pages.set(page('2023/may'), tableOf(row('1st', 'changed', 't')))
      nextDay()
      expect(await run({ full: true })).toBe('partly')
      expect(artists()).toContain('changed')
      expect(artists()).toMatch(/ABCDEFGH$/)
      expect(Date.parse(lastUpdate())).toBe(Date.parse(before) + 1000)
      expect(await run({ full: true })).toBe('partly')
      expect(Date.parse(lastUpdate())).toBe(Date.parse(before) + 1000)
      reddit.pages.set(page('2024/january'), tableOf(row('4th', 'E', 'e1'), row('5th', 'F', 'f1')))
      expect(await run()).toBe('partly')
      expect(lastUpdate()).toMatch(/^2024-02-21/)
    })

    it('keeps new months that the archive has lost, and the date of the data', async () => {
      await run()
      const before = lastUpdate()
      reddit.pages.set('upcoming-releases/archive', archiveOf(['2023/december', '2023/november', ...old.toReversed()]))
      nextDay()
      expect(await run()).toBe('partly')
      expect(artists()).toMatch(/ABCDEFGH$/)
      expect(lastUpdate()).toBe(before)
      expect(last.errors).toEqual([
        'upcoming-releases/archive does not link to 2024-01; its stored entries (2) are kept',
        'upcoming-releases/archive does not link to 2024-02; its stored entries (2) are kept',
      ])
    })

    it('keeps the date of the data if the previous month is the newest one and cannot be read', async () => {
      reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/january', '2023/december', ...old.toReversed()]))
      await run()
      const before = lastUpdate()
      reddit.pages.delete(page('2024/january'))
      nextDay()
      expect(await run({ full: true })).toBe('partly')
      expect(artists()).toMatch(/CDEF$/)
      expect(lastUpdate()).toBe(before)
    })

    it('publishes nothing in a first run that reads no month', async () => {
      reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february', '2024/january']))
      for (const name of ['2024/february', '2024/january']) reddit.pages.delete(page(name))
      expect(await run()).toBe('failed')
      expect(last.errors).toEqual(Array(2).fill(expect.stringMatching(/ answered 404; its stored entries \(0\) are kept$/)))
      expect(readdirSync(folder)).toEqual(['kcomebacks.months.json'])
    })

    it('dates the first data by its months', async () => {
      for (const name of ['2024/february', '2024/january']) reddit.pages.delete(page(name))
      expect(await run()).toBe('partly')
      expect(artists()).toMatch(/ABCD$/)
      expect(lastUpdate()).toBe('2024-01-01 00:00:00 UTC')
    })
  })

  it('keeps the entries of a failed month from the last valid copy if the snapshot is broken', async () => {
    await run()
    reddit.pages.set(page('2024/february'), tableOf(row('6th', 'G', 'g1'), row('TBA', 'H', 'h1'), row('TBA', 'I', 'i1')))
    await run()
    writeFileSync(path(), readFileSync(path(), 'utf8').slice(0, 300))
    reddit.pages.delete(page('2023/november'))
    expect(await run({ full: true })).toBe('partly')
    expect(artists()).toBe('ABCDEFGHI')
    expect(output.join('')).toContain('kcomebacks.json is not a valid snapshot; kcomebacks.json.1 is used instead')
  })

  it.each([
    [
      'refuses the secret',
      { REDDIT_CLIENT_SECRET: 'wrong-hunter3' },
      1,
      'Reddit rejected REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET (401)',
    ],
    [
      'has no public pages',
      { REDDIT_CLIENT_ID: undefined, REDDIT_CLIENT_SECRET: undefined },
      1,
      'set REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET',
    ],
    ['gets half of the credentials', { REDDIT_CLIENT_SECRET: undefined }, 4, 'not configured: set REDDIT_CLIENT_SECRET'],
    ['gets the other half of them', { REDDIT_CLIENT_ID: undefined }, 4, 'not configured: set REDDIT_CLIENT_ID'],
    ['has no folder to write to', { DATA_DIR: undefined }, 4, 'not configured: set DATA_DIR'],
  ])('reports what to do if Reddit %s', async (_what, env, code, message) => {
    expect(await update({}, env)).toBe(code)
    expect(output.join('')).toContain(message)
    expect(output.join('')).not.toMatch(/hunter/)
    expect(existsSync(path())).toBe(false)
  })

  it('reports what to do if Reddit redirects to its login page', async () => {
    reddit.publicPages = 'login'
    expect(await update({}, { REDDIT_CLIENT_ID: undefined, REDDIT_CLIENT_SECRET: undefined })).toBe(1)
    expect(output.join('')).toContain('set REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET')
  })

  it('reads the public pages without credentials', async () => {
    reddit.publicPages = true
    expect(await run({}, { REDDIT_CLIENT_ID: undefined, REDDIT_CLIENT_SECRET: undefined })).toBe('done')
    expect(artists()).toBe('ABCDEFGH')
    expect(reddit.requested).not.toContain('token')
  })

  it('keeps the months of a wiki that has lost most of its rows, unless forced', async () => {
    await run()
    reddit.pages.set(page('2023/november'), tableOf(row('1st', 'A', 'a1')))
    reddit.pages.set(page('2023/december'), tableOf(row('1st', 'C', 'c1')))
    const before = readFileSync(path(), 'utf8')
    expect(await run({ full: true, dryRun: true })).toBe('failed')
    expect(readFileSync(path(), 'utf8')).toBe(before)
    expect(await run({ full: true })).toBe('failed')
    expect(artists()).toBe('ABCDEFGH')
    expect(last.errors).toEqual(['the new snapshot is rejected: it has 6 entries, the current one has 8'])
    expect(await run({ full: true, force: true })).toBe('done')
    expect(artists()).toBe('ACEFGH')
  })

  it('keeps what it has published if most rows are struck out, unless forced', async () => {
    await run()
    const struck = (day: string, artist: string, title: string) => row(day, `~~${artist}~~`, `~~${title}~~`)
    reddit.pages.set(page('2024/january'), tableOf(struck('4th', 'E', 'e1'), struck('5th', 'F', 'f1')))
    reddit.pages.set(page('2024/february'), tableOf(struck('6th', 'G', 'g1'), row('TBA', 'H', 'h1')))
    expect(await run()).toBe('failed')
    expect(artists()).toBe('ABCDEFGH')
    const rejected = 'the new snapshot is rejected: it has 5 entries, the current one has 8'
    expect(last.errors).toEqual([rejected, ...Array(3).fill(expect.stringMatching(/, line \d+: .*it is struck out$/))])
    expect(await run({ force: true })).toBe('done')
    expect(artists()).toBe('ABCDH')
  })

  it('keeps entries of the snapshot that belong to no month', async () => {
    await run()
    const byHand = '{"date":"unknown","artist":"X","title":"x1"}'
    writeFileSync(path(), readFileSync(path(), 'utf8').replace('\n]', `,\n${byHand}\n]`))
    expect(await run()).toBe('done')
    expect(last.errors).toEqual([])
    expect(artists()).toBe('ABCDEFGHX')
  })

  describe('a month with fewer rows', () => {
    const january = page('2024/january')
    const rows = (names: string) => [...names].map((name, index) => row(`${index + 1}th`, name, name.toLowerCase()))
    beforeEach(async () => {
      reddit.pages.set(january, tableOf(...rows('ABCDEFGHIJ')))
      await run()
    })

    it('is believed once it was read the same three times in a row', async () => {
      reddit.pages.set(january, tableOf(...rows('ABCDEF')))
      expect([await run(), await run()]).toEqual(['partly', 'partly'])
      reddit.pages.set(january, tableOf(...rows('ABCDE')))
      expect([await run(), await run()]).toEqual(['partly', 'partly'])
      expect(await run()).toBe('done')
      const reason = expect.stringMatching(/: the page has 5 entries, but 10 are stored; .*; it replaces the stored entries$/)
      expect(output).toContainEqual(reason)
      expect(output.join('')).toContain('{"month":"2024-01","times":3}')
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(5)
    })

    it('is never believed if as many other rows can no longer be parsed', async () => {
      reddit.pages.set(january, tableOf(...rows('ABCDEFGHIJ')).replace('|Day|', '|When|'))
      expect([await run(), await run(), await run(), await run()]).toEqual(['partly', 'partly', 'partly', 'partly'])
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(10)
      expect(await run({ force: '2024-01' })).toBe('done')
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toEqual([])
    })

    const list = rows('ABCDEFGHIJ').map((line) => `* ${line.replaceAll('|', ' ')}`)
    it.each<[what: string, text: string]>([
      ['a text', 'see you soon'],
      ['empty', ''],
      ['a list', list.join('\n')],
      ['a list beside its table', tableOf(row('1st', 'A', 'a'), '', ...list)],
      ['a table of soundtracks', tableOf(...rows('ABCDEFGHIJ')).replace('Scheduled Releases', 'OSTs of January')],
      ['one beside another table', `${tableOf()}\n${tableOf(...rows('ABCDEFGHIJ')).replace('Scheduled', 'OST')}`],
    ])('is never believed if its page has become %s', async (_what, text) => {
      reddit.pages.set(january, text)
      expect([await run(), await run(), await run(), await run()]).toEqual(['partly', 'partly', 'partly', 'partly'])
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(10)
      expect(await run({ force: '2024-01' })).toBe('done')
      expect(entries().filter(({ date }) => date.startsWith('2024-01')).length).toBeLessThan(2)
    })

    it('keeps announced entries without a day if its page has become a text', async () => {
      const announced = tableOf(row('TBA', 'V', 'v'), row('TBA', 'W', 'w'))
      reddit.pages.set(january, announced)
      expect(await run({ force: '2024-01' })).toBe('done')
      reddit.pages.set(january, 'see you soon')
      expect([await run(), await run(), await run()]).toEqual(['partly', 'partly', 'partly'])
      expect(last.errors[0]).toContain('missing: 2024-01-TBA V - v, 2024-01-TBA W - w')
      expect(artists()).toContain('VW')
      reddit.pages.set(january, tableOf(row('TBA', 'V', 'v')))
      expect(await run()).toBe('done')
      expect(artists()).not.toContain('W')
    })

    it.each(['ABCDEFGHIJ', 'ABC'])('is never believed if it has the page of another month, with rows %s', async (names) => {
      const december = page('2023/december')
      reddit.pages.set(december, tableOf(...[...names].map((name) => row('1st', `${name}${name}`, name))))
      await run({ full: true, force: '2023-12' })
      const before = entries()
      reddit.pages.set(january, reddit.pages.get(december) ?? '')
      expect([await run(), await run(), await run(), await run()]).toEqual(['partly', 'partly', 'partly', 'partly'])
      expect(entries()).toEqual(before)
      expect(last.errors[0]).toContain('missing: 2024-01-1 A - a')
    })

    it('is believed if other rows and items are added meanwhile', async () => {
      const soundtracks = tableOf(...rows('KLMNOPQRST')).replace('Scheduled', 'OST')
      reddit.pages.set(january, `${tableOf(...rows('ABCDEFG'))}\n${soundtracks}\n* [U](/u)\n* [V](/v)\n`)
      expect([await run(), await run(), await run()]).toEqual(['partly', 'partly', 'done'])
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(7)
    })

    it('is believed if its only row was removed from the table', async () => {
      reddit.pages.set(january, tableOf(...rows('A')))
      expect(await run({ force: '2024-01' })).toBe('done')
      reddit.pages.set(january, `No release yet.\n\n${tableOf()}`)
      expect([await run(), await run(), await run()]).toEqual(['partly', 'partly', 'done'])
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toEqual([])
    })

    it('is believed although it always had rows that cannot be parsed', async () => {
      const others = Array.from({ length: 6 }, () => '|1st|18:00||*x*')
      reddit.pages.set(january, tableOf(...rows('ABCDEFGHIJ'), ...others))
      expect(await run()).toBe('done')
      reddit.pages.set(january, tableOf(...rows('ABCDE'), ...others))
      expect([await run(), await run(), await run()]).toEqual(['partly', 'partly', 'done'])
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(5)
    })

    it('has lost nothing if they moved to another month, were struck out or only announced', async () => {
      reddit.pages.set(january, tableOf(...rows('ABCDE'), row('7th', '~~F~~', '~~f~~')))
      const february = [row('6th', 'G', 'g1'), row('TBA', 'H', 'h1'), ...rows('GHIJ')]
      reddit.pages.set(page('2024/february'), tableOf(...february))
      expect(await run()).toBe('done')
      expect(last.errors).toEqual([expect.stringMatching(/it is struck out$/)])
      reddit.pages.set(january, tableOf(...rows('ABCDE'), ...[...'VW'].map((name) => row('TBA', name, name))))
      expect(await run()).toBe('done')
      reddit.pages.set(january, tableOf(...rows('ABCDE')))
      expect(await run()).toBe('done')
    })

    it('may lose one row', async () => {
      reddit.pages.set(january, tableOf(...rows('ABC')))
      expect(await run({ force: '2024-01' })).toBe('done')
      reddit.pages.set(january, tableOf(...rows('AB')))
      expect(await run()).toBe('done')
      reddit.pages.set(january, tableOf())
      expect(await run()).toBe('partly')
    })

    it('is accepted by its name only, if another month has lost rows too', async () => {
      const february = page('2024/february')
      reddit.pages.set(february, tableOf(...rows('KLMNOPQRST')))
      await run({ force: true })
      for (const name of [january, february]) reddit.pages.set(name, tableOf(...rows('VWX')))
      expect(await run({ force: true })).toBe('failed')
      expect(last.errors[0]).toContain('--force=2024-0')
      expect(await run({ force: '2024-02' })).toBe('partly')
      expect(entries().filter(({ date }) => date.startsWith('2024-02'))).toHaveLength(3)
      expect(entries().filter(({ date }) => date.startsWith('2024-01'))).toHaveLength(10)
    })
  })

  describe('the text of another month', () => {
    const [november, december, january, february] = ['2023/november', '2023/december', '2024/january', '2024/february'].map(
      page,
    ) as [string, string, string, string]
    const march = page('2024/march')
    const rows = (names: string) => [...names].map((name, index) => row(`${index + 1}th`, name, name.toLowerCase()))
    const of = (month: string) =>
      entries()
        .filter(({ date }) => date.startsWith(month))
        .map(({ artist }) => artist)
        .join('')
    const linkMarch = () => {
      const months = ['2024/march', '2024/february', '2024/january', '2023/december', '2023/november']
      reddit.pages.set('upcoming-releases/archive', archiveOf(months))
    }
    const times = async (count: number, options: Partial<RunContext> = {}) => {
      const outcomes: Outcome[] = []
      while (outcomes.length < count) outcomes.push(await run({ full: true, ...options }))
      return outcomes
    }
    const copy = (from: string, to: string) => reddit.pages.set(to, reddit.pages.get(from) ?? '')
    const swap = (one: string, other: string) => {
      const text = reddit.pages.get(one) ?? ''
      copy(other, one)
      reddit.pages.set(other, text)
    }

    it.each<[what: string, text: string]>([
      ['has no entries', tableOf()],
      ['has one entry', tableOf(row('9th', 'X', 'x'))],
      ['has announced entries only', tableOf(...[...'XYZ'].map((name) => row('TBA', name, name)))],
    ])('is never believed in the page of a month that %s', async (_what, text) => {
      linkMarch()
      reddit.pages.set(february, tableOf(...rows('KLMNOPQRST')))
      reddit.pages.set(march, text)
      await run()
      const before = entries()
      reddit.pages.set(march, tableOf(...rows('KLMNOPQRSU')))
      expect(await times(4)).toEqual(['partly', 'partly', 'partly', 'partly'])
      expect(entries()).toEqual(before)
      const reason = '9 of the 10 dated entries of the page are also in upcoming-releases/2024/february'
      const kept = `its stored entries (${before.length - 16}) are kept`
      expect(last.errors).toEqual([`${march}: ${reason}; --force accepts it; ${kept}`])
      expect(await run({ force: true })).toBe('done')
      expect(of('2024-03')).toBe('KLMNOPQRSU')
    })

    it('is never believed in a new page that was made from the one before, until it has its own', async () => {
      await run()
      linkMarch()
      copy(january, march)
      expect(await times(4)).toEqual(['partly', 'partly', 'partly', 'partly'])
      expect(artists()).toBe('ABCDEFGH')
      reddit.pages.set(march, tableOf(row('1st', 'X', 'x1'), row('4th', 'E', 'e1'), row('8th', 'Y', 'y1')))
      expect(await run()).toBe('done')
      expect(of('2024-03')).toBe('XEY')
    })

    it('is published in the first run, which cannot know whose it is, and corrected by a later one', async () => {
      copy(january, february)
      expect(await run()).toBe('done')
      expect([of('2024-01'), of('2024-02')]).toEqual(['EF', 'EF'])
      reddit.pages.set(february, tableOf(row('6th', 'G', 'g1')))
      expect(await run()).toBe('done')
      expect(artists()).toBe('ABCDEFG')
    })

    it('is refused below the rows of the month too', async () => {
      reddit.pages.set(january, tableOf(...rows('KLMNOPQRST')))
      reddit.pages.set(february, tableOf(...rows('UVWXYZ')))
      await run()
      reddit.pages.set(february, `${tableOf(...rows('UVWXYZ'))}\n\n${tableOf(...rows('KLMNOPQRST'))}`)
      expect(await run()).toBe('partly')
      expect(of('2024-02')).toBe('UVWXYZ')
      expect(last.errors[0]).toContain(`10 of the 16 dated entries of the page are also in ${january}`)
    })

    it.each([
      ['two months', [november, december]],
      ['the newest two', [january, february]],
      ['three months', [november, december, january]],
    ])('is believed if %s exchange their pages for three runs', async (_what, [one = '', other = '', third]) => {
      await run()
      const before = entries()
      swap(one, other)
      if (third !== undefined) swap(other, third)
      expect(await times(2)).toEqual([expect.any(String), expect.any(String)])
      expect(entries()).toEqual(before)
      expect(last.outcome).not.toBe('done')
      expect(last.errors.join()).toMatch(/2 of the 2 dated entries of the page were in upcoming-releases\/20/)
      expect(await times(1)).toEqual(['done'])
      expect([...artists()].sort().join('')).toBe('ABCDEFGH')
      expect(artists()).not.toBe('ABCDEFGH')
    })

    it.each([true, false])(
      'is not believed if the pages are exchanged back in between; all months are read: %s',
      async (full) => {
        await run()
        const before = entries()
        for (let weeks = 1; weeks <= 3; weeks++) {
          clock = skippingClock(today + weeks * 7 * 86_400_000)
          swap(november, december)
          expect(await run({ full })).toBe('partly')
          swap(november, december)
          expect(await run({ full })).toBe('done')
        }
        expect(entries()).toEqual(before)
      },
    )

    it('is believed only together if exchanged pages are read in different runs', async () => {
      reddit.pages.set(february, tableOf(...rows('KLMNOPQRST')))
      await run()
      const before = entries()
      swap(november, february)
      expect([await run(), await run(), await run(), await run()]).toEqual(['partly', 'partly', 'partly', 'partly'])
      expect(entries()).toEqual(before)
      nextWeek()
      expect([await run(), await run()]).toEqual(['partly', 'partly'])
      expect(entries()).toEqual(before)
      expect(await run()).toBe('done')
      expect([of('2023-11'), of('2024-02')]).toEqual(['KLMNOPQRST', 'AB'])
    })

    it('is believed after three runs if the wiki no longer has the page of that month', async () => {
      reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february', '2024/january', '2023/december']))
      await run()
      reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february', '2024/january', '2023/november']))
      copy(december, november)
      expect(await times(3)).toEqual(['partly', 'partly', 'done'])
      expect(artists()).toBe('CDCDEFGH')
    })

    it('is believed after three runs if exchanged pages lack some rows of the months', async () => {
      reddit.pages.set(november, tableOf(...rows('KLMNOPQR')))
      await run()
      reddit.pages.set(december, tableOf(...rows('KLMNO')))
      reddit.pages.set(november, tableOf(row('3rd', 'C', 'c1'), row('', 'D', 'd1')))
      expect(await times(3)).toEqual(['partly', 'partly', 'done'])
      expect([of('2023-11'), of('2023-12')]).toEqual(['CD', 'KLMNO'])
    })

    it('does not empty the month that it comes from', async () => {
      reddit.pages.set(february, tableOf(...rows('KLMNOPQRST')))
      await run()
      const before = entries()
      copy(january, february)
      reddit.pages.set(january, tableOf())
      expect(await times(2)).toEqual(['partly', 'partly'])
      expect(entries()).toEqual(before)
      expect(last.errors.join()).toContain('missing: 2024-01-4 E - e1, 2024-01-5 F - f1')
    })

    it('is accepted of the one month that is forced', async () => {
      await run()
      swap(november, december)
      expect(await times(1, { force: true })).toEqual(['partly'])
      expect(artists()).toBe('ABCDEFGH')
      expect(await times(1, { force: '2023-11' })).toEqual(['partly'])
      expect(artists()).toBe('CDCDEFGH')
      expect(await times(1)).toEqual(['done'])
      expect(artists()).toBe('CDABEFGH')
    })

    it('may be in part in the page of the next month: postponed entries, also with their day', async () => {
      await run()
      reddit.pages.set(january, tableOf())
      reddit.pages.set(february, tableOf(row('4th', 'E', 'e1'), row('5th', 'F', 'f1'), row('6th', 'G', 'g1')))
      expect(await run()).toBe('done')
      expect(artists()).toBe('ABCDEFG')
      linkMarch()
      reddit.pages.set(february, tableOf(row('4th', 'E', 'e1'), row('5th', 'F', 'f1')))
      reddit.pages.set(march, tableOf(row('6th', 'G', 'g1')))
      expect(await run()).toBe('done')
      expect(of('2024-03')).toBe('G')
    })

    it('may be in two pages if it is announced in both', async () => {
      const announced = [...'VWX'].map((name) => row('TBA', name, name))
      reddit.pages.set(february, tableOf(row('6th', 'G', 'g1'), ...announced))
      await run()
      linkMarch()
      reddit.pages.set(march, tableOf(...announced))
      expect(await run()).toBe('done')
      expect(of('2024-03')).toBe('VWX')
    })
  })

  it('reports shifted columns and dropped links', async () => {
    const january = [
      '|1st||18:00|A|a|Single||',
      '|2nd|18:00|B|b|[Single](https://example.org/type)|[b](/b)|[c](ftp://example.org)|',
    ]
    reddit.pages.set(page('2024/january'), tableOf(...january))
    await run({ full: true })
    expect(last.errors).toEqual([
      expect.stringMatching(/its columns are shifted: its artist is "18:00"$/),
      expect.stringMatching(
        /"ftp:\/\/example.org" is not a link; it is left out; the link "https:.*" is in a column without links/,
      ),
    ])
  })

  it('fails, and does not wait, if there is a pipe in place of the snapshot', async () => {
    execFileSync('mkfifo', [path()])
    expect(await update()).toBe(1)
    expect(lastRecord()).toMatchObject({ outcome: 'failed', errors: ['kcomebacks.json is not a regular file'] })
  })

  it('changes nothing in a dry run', async () => {
    expect(await update({ dryRun: true })).toBe(0)
    expect(readdirSync(folder)).toEqual([])
    expect(output.join('')).toContain('Dry run: nothing was changed.')
    expect(await update({ dryRun: true }, { DATA_DIR: join(folder, 'none') })).toBe(0)
    expect(readdirSync(folder)).toEqual([])
  })

  it('stops soon after it is aborted, and publishes nothing', async () => {
    const stop = new AbortController()
    reddit.instead.set(page('2024/january'), [() => stop.abort()])
    expect(await update({}, {}, stop.signal)).toBe(1)
    expect(lastRecord()).toMatchObject({
      outcome: 'failed',
      counts: { ...noCounts, read: 3, added: 2, rejected: 1 },
      errors: ['stopped'],
    })
    expect(existsSync(path())).toBe(false)
    expect(await update()).toBe(0)
  })

  it('escapes control characters from the wiki on the terminal and in records', async () => {
    reddit.pages.set(
      page('2024/february'),
      tableOf(row('6th', 'G', 'g1'), row('\u202e31', 'A', 'a'), row('32\u009b2J', 'B', 'b')),
    )
    await update()
    const shown = output.join('')
    expect(shown).toContain('"\\u202e31" is not a single day')
    expect(shown).toContain('"32\\u009b2J" is not a single day')
    expect(shown).not.toMatch(/[\u202e\u009b\u001b]/)
    expect(JSON.stringify(lastRecord())).not.toMatch(/[\u202e\u009b]/)
  })

  it('shows its progress without a terminal: lines and a table', async () => {
    await update()
    const text = output.join('')
    expect(text).toMatch(/^4\/4 months, [\d.]+\/s, 0 s left: 2023-11$/m)
    expect(text).toMatch(/^script {6}outcome {2}read {2}added {2}changed {2}unchanged {2}rejected {2}time/m)
    expect(text).toMatch(/^kcomebacks {2}done {7}12 {6}8 {8}0 {10}0 {9}4 {2}\d+\.\d s$/m)
  })

  it('writes no secret to a file', async () => {
    await update()
    await update({}, { REDDIT_CLIENT_SECRET: 'wrong-hunter3' })
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), 'utf8')
      expect(text).not.toMatch(/hunter|token-\d/)
    }
  })
})
