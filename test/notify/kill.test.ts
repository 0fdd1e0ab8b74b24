import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

const kills = process.env.LONG_TESTS === '1' ? 50 : 4
const child = fileURLToPath(new URL('../helpers/notify-child.mjs', import.meta.url))

test(`a process that is killed ${kills} times while it sends loses nothing and tells nothing twice`, {
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'notify-kill-'))
  // Killed before the reply, after it, and in between.
  let onRequest = (_answer: () => void) => {}
  const receiver = await startReceiver((response) => onRequest(() => response.writeHead(204).end()))
  const start = (last: number) =>
    spawn(process.execPath, [child, folder, receiver.url, String(last)], { stdio: ['ignore', 'ignore', 'inherit'] })
  for (let kill = 0; kill < kills; kill++) {
    const running = start(1_000_000)
    const over = once(running, 'exit')
    let left = 1 + (kill % 7)
    await new Promise<void>((resolve) => {
      onRequest = (answer) => {
        left--
        if (left > 0 || kill % 3 === 0) answer()
        if (left > 0) return
        onRequest = () => {}
        if (kill % 3 === 2) answer()
        running.kill('SIGKILL')
        resolve()
      }
    })
    await over
  }
  const seen = () => new Map(receiver.accepted.map(({ json }) => [json.id as string, Number(json.text)]))
  const last = Math.max(...seen().values()) + 20
  onRequest = (answer) => answer()
  const running = start(last)
  const over = once(running, 'exit')
  await until(() => [...seen().values()].includes(last))
  running.kill('SIGKILL')
  await over
  // A receiver that knows the ids it has seen has each number exactly once, in order.
  expect([...seen().values()]).toEqual(Array.from({ length: last }, (_, index) => index + 1))
})
