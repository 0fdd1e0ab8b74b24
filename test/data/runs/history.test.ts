import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addRun, readHistory } from '../../../src/data/runs/history.ts'
import { noCounts } from '../../../src/data/scripts/script.ts'
import { silentLog } from '../../../src/util/log.ts'

/** The start of a run. @param time Unix milliseconds */
const startAt = (time: number) => ({
  ...{ script: 'projects', trigger: 'schedule' as const, started: new Date(time).toISOString() },
})

/** A run that has failed three milliseconds after 1970. */
const endOf = (start: ReturnType<typeof startAt>) => ({
  ...{ ...start, ended: new Date(3).toISOString(), duration: 1, outcome: 'failed' as const, counts: noCounts, errors: [] },
})

it('a runs.json that is too large is neither read nor replaced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const path = join(folder, 'runs.json')
  writeFileSync(path, '')
  truncateSync(path, 2 ** 40)
  const errors: unknown[] = []
  const log = { ...silentLog, error: ({ err }: { readonly err: Error }) => errors.push(err.message) } as typeof silentLog
  await addRun(folder, { script: 'projects', trigger: 'command', started: new Date(0).toISOString() }, log)
  expect(errors).toEqual(['runs.json has 1099511627776 bytes; the maximum is 16777216'])
  await expect(readHistory(folder)).rejects.toThrow('runs.json has')
  expect(statSync(path).size).toBe(2 ** 40)
  rmSync(folder, { recursive: true })
})

it('a runs.json that cannot be read now is not replaced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  mkdirSync(join(folder, 'runs.json'))
  const errors: unknown[] = []
  const log = {
    ...silentLog,
    error: ({ err }: { readonly err: NodeJS.ErrnoException }) => errors.push(err.code),
  } as typeof silentLog
  await addRun(folder, { script: 'projects', trigger: 'command', started: new Date(0).toISOString() }, log)
  expect(errors).toEqual(['EISDIR'])
  await expect(readHistory(folder)).rejects.toThrow('EISDIR')
  rmSync(folder, { recursive: true })
})

it('replaces the start of a run that was killed, also if the next start could not be recorded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const [killed, ended] = [startAt(1), endOf(startAt(2))]
  await addRun(folder, killed, silentLog)
  await addRun(folder, ended, silentLog)
  expect((await readHistory(folder)).runs).toEqual([ended])
  rmSync(folder, { recursive: true })
})

it('keeps the last successes that an earlier version wrote', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const lastSuccess = { likedsongs: new Date(1).toISOString() }
  writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs: [], lastSuccess, started: [] }))
  const run = { script: 'projects', trigger: 'command' as const, started: new Date(2).toISOString() }
  await addRun(folder, run, silentLog)
  expect(await readHistory(folder)).toEqual({ runs: [run], lastSuccess })
  rmSync(folder, { recursive: true })
})

it('keeps the start of a run that took the lock of another one, when that other one ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const [first, second] = [startAt(1), startAt(2)]
  const ended = endOf(first)
  await addRun(folder, first, silentLog)
  await addRun(folder, second, silentLog)
  expect((await readHistory(folder)).runs).toEqual([second])
  await addRun(folder, ended, silentLog)
  expect((await readHistory(folder)).runs).toEqual([second, ended])
  rmSync(folder, { recursive: true })
})
