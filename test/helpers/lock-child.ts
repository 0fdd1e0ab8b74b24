// Takes and releases the lock of a script by commands on its input, one per line, and answers each with a line.
import { createInterface } from 'node:readline'
import { systemClock } from '../../src/clock.ts'
import { type RunLock, takeLock } from '../../src/data/runs/lock.ts'

const [folder = ''] = process.argv.slice(2)
let ahead = 0
const clock = { ...systemClock, now: () => systemClock.now() + ahead }
let lock: RunLock | undefined

async function answer(command: string): Promise<string> {
  const [name, milliseconds] = command.split(' ')
  if (name === 'advance') ahead += Number(milliseconds)
  else lock = await takeLock({ folder, name: 'runs', clock, taken: '2026-01-01T00:00:00.000Z' })
  return name === 'advance' ? 'advanced' : lock === undefined ? 'refused' : 'taken'
}

for await (const line of createInterface({ input: process.stdin })) {
  const text = await answer(line).catch((error: unknown) => String(error))
  process.stdout.write(`${text}\n`)
}
