import { fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'

async function start(...args: readonly string[]) {
  const child = fork(new URL('../helpers/service-log-child.mjs', import.meta.url), args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return { child, stdout: child.stdout! }
}

it.each(['JSON', 'terminal'])('ends although nobody reads its lines any more (%s)', async (form) => {
  const { child, stdout } = await start(form)
  stdout.destroy()
  await once(stdout, 'close')
  child.send('exit')
  expect(await once(child, 'exit')).toEqual([0, null])
})

it.each([
  ['JSON', /^\{"level":30,.*"msg":"line 100"\}\n$/m],
  ['terminal', /^\[\d\d:\d\d:\d\d\] .*INFO.*: .*line 100.*\n$/m],
])('writes every line before the end (%s)', async (form, last) => {
  const { child, stdout } = await start(form)
  const output = text(stdout)
  child.send('drain')
  expect(await output).toMatch(last)
  expect((await output).match(/\n/g)).toHaveLength(100)
})
