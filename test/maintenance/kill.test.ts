import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { addRecords, readRecords } from '../../src/maintenance/records.ts'
import { ageLocks } from '../helpers/age-locks.ts'
import { onTestFinished, separateTestEnds } from '../helpers/test-end.ts'

const kills = process.env.LONG_TESTS === '1' ? 50 : 10
const child = fileURLToPath(new URL('../helpers/maintenance-child.mjs', import.meta.url))

// Concurrent, because these tests mostly wait for a lock and for processes.
separateTestEnds()

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-maintenance-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const record = (number: number) => ({ id: String(number), kind: 'end', servers: ['*'], at: Date.now() }) as const

test.concurrent('the lock of a process that was killed is taken over', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'maintenance.json.lock'))
  ageLocks(folder, 6_000)
  await addRecords(folder, [record(1)], Date.now())
  expect(await readRecords(folder)).toHaveLength(1)
  expect(readdirSync(folder)).toEqual(['maintenance.json'])
})

test.concurrent('a lock that was taken just before its process was killed is waited for', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'maintenance.json.lock'))
  await addRecords(folder, [record(1)], Date.now())
  expect(await readRecords(folder)).toHaveLength(1)
})

test.concurrent(`a process that is killed ${kills} times while it writes loses nothing that it has stored`, async () => {
  const folder = newFolder()
  let stored = 0
  for (let kill = 0; kill < kills; kill++) {
    const running = spawn(process.execPath, [child, folder, String(stored + 1)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const over = once(running, 'exit')
    const last = stored + 3 + (kill % 4)
    for await (const line of createInterface(running.stdout)) {
      stored = Number(line)
      // After the number, the next record is being written: now, in the next turn, or a little later.
      if (stored < last) continue
      for (let turn = 0; turn < kill; turn++) await new Promise((resolve) => setImmediate(resolve))
      running.kill('SIGKILL')
    }
    await over
    const numbers = (await readRecords(folder)).map(({ id }) => Number(id))
    // One more may have been stored whose number was not written any more.
    stored = Math.max(stored, ...numbers)
    expect(numbers).toEqual(Array.from({ length: stored }, (_, index) => index + 1))
    ageLocks(folder, 6_000)
  }
  await addRecords(folder, [record(stored + 1)], Date.now())
  expect(await readRecords(folder)).toHaveLength(stored + 1)
})
