import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addRun, firstErrors, readHistory } from '../../../src/data/runs/history.ts'
import { noCounts, type Outcome } from '../../../src/data/scripts/script.ts'
import { silentLog } from '../../../src/util/log.ts'
import { collectLog } from '../../helpers/log-lines.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The start of a run. @param time Unix milliseconds */
const startAt = (time: number, script = 'projects') => ({
  ...{ script, trigger: 'schedule' as const, started: new Date(time).toISOString() },
})

/** A run that has ended three milliseconds after 1970. */
const endOf = (start: ReturnType<typeof startAt>, outcome: Outcome = 'failed') => ({
  ...{ ...start, ended: new Date(3).toISOString(), duration: 1, outcome, counts: noCounts, errors: [] },
})

it('a runs.json that is too large is neither read nor replaced', async () => {
  const path = join(folder, 'runs.json')
  writeFileSync(path, '')
  truncateSync(path, 2 ** 40)
  const log = collectLog()
  await addRun(folder, startAt(0), log)
  expect(log.lines).toEqual(['error: runs.json could not be written'])
  await expect(readHistory(folder)).rejects.toThrow('runs.json has 1099511627776 bytes; the maximum is 16777216')
  expect(statSync(path).size).toBe(2 ** 40)
})

it('a pipe in place of runs.json is an error at once', async () => {
  execFileSync('mkfifo', [join(folder, 'runs.json')])
  await expect(readHistory(folder)).rejects.toThrow('runs.json is not a regular file')
})

it('a runs.json that cannot be read now is not replaced', async () => {
  mkdirSync(join(folder, 'runs.json'))
  const log = collectLog()
  await addRun(folder, startAt(0), log)
  expect(log.lines).toEqual(['error: runs.json could not be written'])
  await expect(readHistory(folder)).rejects.toThrow('EISDIR')
})

it('replaces the start of a run that was killed, also if the next start could not be recorded', async () => {
  const [killed, ended] = [startAt(1), endOf(startAt(2))]
  await addRun(folder, killed, silentLog)
  await addRun(folder, ended, silentLog)
  expect((await readHistory(folder)).runs).toEqual([ended])
})

it('keeps the last successes that an earlier version wrote', async () => {
  const lastSuccess = { likedsongs: new Date(1).toISOString() }
  writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs: [], lastSuccess, started: [] }))
  const run = startAt(2)
  await addRun(folder, run, silentLog)
  expect(await readHistory(folder)).toEqual({ runs: [run], lastSuccess })
})

it('keeps the start of a run that took the lock of another one, when that other one ends', async () => {
  const [first, second] = [startAt(1), startAt(2)]
  const ended = endOf(first)
  await addRun(folder, first, silentLog)
  await addRun(folder, second, silentLog)
  expect((await readHistory(folder)).runs).toEqual([second])
  await addRun(folder, ended, silentLog)
  expect((await readHistory(folder)).runs).toEqual([second, ended])
})

it('has no run of which the end is not recorded twice for a script, and leaves those of others', async () => {
  const [other, first, second] = [startAt(1, 'kcomebacks'), startAt(1), startAt(2)]
  for (const run of [other, first, second]) await addRun(folder, run, silentLog)
  expect((await readHistory(folder)).runs).toEqual([other, second])
  const ended = endOf(second)
  await addRun(folder, ended, silentLog)
  expect((await readHistory(folder)).runs).toEqual([other, ended])
})

it('keeps 50 runs, and the last success of each script', async () => {
  const at = (time: number, script: string, outcome: Outcome) => endOf(startAt(time, script), outcome)
  const [done, partly] = [at(2, 'kcomebacks', 'done'), at(4, 'likedsongs', 'partly')]
  const older = [at(1, 'kcomebacks', 'done'), done, at(3, 'likedsongs', 'partly'), partly, at(5, 'other', 'failed')]
  const newer = Array.from({ length: 50 }, (_, index) => at(10 + index, 'projects', 'failed'))
  writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs: [...older, ...newer.slice(0, -1)] }))
  await addRun(folder, newer.at(-1)!, silentLog)
  expect((await readHistory(folder)).runs).toEqual([done, partly, ...newer])
})

it('keeps all of the runs that end at once', async () => {
  const runs = ['a', 'b', 'c', 'd'].map((script) => endOf(startAt(1, script)))
  await Promise.all(runs.map((run) => addRun(folder, run, silentLog)))
  expect((await readHistory(folder)).runs.toSorted((a, b) => (a.script < b.script ? -1 : 1))).toEqual(runs)
})

it('leaves out what is not a run', async () => {
  const run = endOf(startAt(1))
  const { outcome: _, ...damaged } = run
  const runs = [null, 'run', {}, damaged, { ...run, outcome: 'lost' }, { ...startAt(1), trigger: 'moon' }, run]
  writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs, lastSuccess: { projects: 5 } }))
  expect(await readHistory(folder)).toEqual({ runs: [run], lastSuccess: {} })
})

describe('the errors of a run', () => {
  const errors = Array.from({ length: 22 }, (_, index) => `error ${index + 1}`)

  it('are all in its record, up to 20', () => {
    expect(firstErrors(errors.slice(0, 20))).toEqual(errors.slice(0, 20))
  })

  it('are the first 20 and the number of the others', () => {
    expect(firstErrors(errors)).toEqual([...errors.slice(0, 20), 'and 2 more, see the log'])
  })
})
