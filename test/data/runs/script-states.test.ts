import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { takeLock } from '../../../src/data/runs/lock.ts'
import { type RecordedState, readStates } from '../../../src/data/runs/script-states.ts'
import { kcomebacks } from '../../../src/data/scripts/kcomebacks/index.ts'
import { noCounts, type Script, scriptSettings } from '../../../src/data/scripts/script.ts'
import { collectLog } from '../../helpers/log-lines.ts'

let folder: string
let log: ReturnType<typeof collectLog>
beforeEach(() => {
  log = collectLog()
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-states-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const started = (script: string, time = 1) => ({
  ...{ script, trigger: 'schedule' as const, started: new Date(time).toISOString() },
})
const ended = (script: string, time = 1, outcome: 'done' | 'failed' = 'done') => ({
  ...{ ...started(script, time), ended: new Date(time + 1).toISOString(), duration: 1, outcome, counts: noCounts, errors: [] },
})
const record = (...runs: readonly object[]) => writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs }))
const unreadable = () => {
  rmSync(join(folder, 'runs.json'), { force: true })
  mkdirSync(join(folder, 'runs.json'))
}

const one: Script = { ...kcomebacks, name: 'one' }
const two: Script = { ...kcomebacks, name: 'two' }
/** The first script, of which the lock is looked up between two readings of the records, when `change` is called. */
function changing(change: () => void): Script {
  let isFirst = true
  return {
    ...kcomebacks,
    get name() {
      if (isFirst) change()
      isFirst = false
      return 'one'
    },
  }
}

async function read(scripts: readonly Script[] = [one, two], known: ReadonlyMap<string, RecordedState> = new Map()) {
  const values = scriptSettings(loadConfig({ env: { GITHUB_TOKEN: 'a-long-secret' } }))
  const states = await readStates({ scripts, values, log, dataDir: folder }, folder, known)
  return Object.fromEntries(states)
}

const nothing = { isRunning: false, started: undefined, last: undefined, lastSuccess: undefined, own: undefined }

it('is nothing without files', async () => {
  expect(await read()).toEqual({ one: nothing, two: nothing })
})

it('has the last run and the last success of each script', async () => {
  const [success, failure, other] = [ended('one', 1), ended('one', 3, 'failed'), ended('two', 5, 'failed')]
  record(success, failure, other)
  expect(await read()).toMatchObject({
    one: { isRunning: false, started: undefined, last: failure, lastSuccess: success.ended },
    two: { last: other, lastSuccess: undefined },
  })
})

it('has a run in progress, and one whose process was killed', async () => {
  record(ended('one'), started('one', 5), started('two', 5))
  const lock = await takeLock(folder, 'one')
  expect(await read()).toMatchObject({
    one: { isRunning: true, started: started('one', 5), last: ended('one') },
    two: { isRunning: false, started: started('two', 5), last: undefined },
  })
  await lock?.release()
})

describe('while the states are read', () => {
  it('a run ends', async () => {
    record(ended('two'), started('one', 5))
    const script = changing(() => record(ended('two'), ended('one', 5)))
    expect(await read([script])).toEqual({
      one: { ...nothing, last: ended('one', 5), lastSuccess: ended('one', 5).ended },
    })
  })

  it('a run starts', async () => {
    record(started('two'))
    const script = changing(() => record(started('two'), started('one', 5)))
    expect(await read([script, two])).toMatchObject({
      one: { isRunning: true, started: started('one', 5) },
      two: { isRunning: false },
    })
  })

  it('the records become unreadable', async () => {
    record(started('one', 5))
    const before = { isRunning: true, last: ended('one') }
    expect(await read([changing(unreadable)], new Map([['one', before]]))).toMatchObject({ one: { ...before, isRunning: false } })
  })
})

it('keeps the known runs while the records cannot be read', async () => {
  unreadable()
  const lock = await takeLock(folder, 'one')
  const known = new Map([
    ['one', { isRunning: false, last: ended('one'), own: { setAside: ['a song'], authorisationExpires: 5 } }],
    ['two', { isRunning: true, started: started('two') }],
  ])
  expect(await read([one, two], known)).toEqual({
    one: { isRunning: true, last: ended('one'), own: undefined },
    two: { isRunning: false, started: started('two'), own: undefined },
  })
  await lock?.release()
})

it('has the own state of a script without secrets, and none if it cannot be read', async () => {
  const state = { setAside: ['a song: a-long-secret'], authorisationExpires: 5 }
  const broken = () => Promise.reject(new Error('broken'))
  const scripts = [
    { ...one, readState: async () => state },
    { ...two, readState: broken },
  ]
  const found = await read(scripts)
  expect(found).toEqual({
    one: { ...nothing, own: { ...state, setAside: ['a song: [hidden]'] } },
    two: { ...nothing, problem: 'broken' },
  })
  await read(scripts, new Map(Object.entries(found)))
  expect(log.lines).toEqual(['warn: two: the state cannot be read (broken)'])
})
