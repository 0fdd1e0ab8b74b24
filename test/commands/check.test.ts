import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runCheck } from '../../src/commands/check/run-check.ts'
import { findCommand } from '../../src/commands/definitions/index.ts'
import { parseArguments } from '../../src/commands/parse-arguments.ts'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { hostile, hostileServer } from '../helpers/hostile-servers.ts'
import { never } from '../helpers/never.ts'

const check = findCommand('check')!

async function run(args: readonly string[], stop = never()) {
  let out = ''
  const call = { ...(await parseArguments(check, args)), command: check, commands: [], stop }
  const print = (text: string) => {
    out += `${text}\n`
  }
  const code = await runCheck(call, print).catch((error: unknown) => {
    if (stop.aborted) return 'stopped'
    throw error
  })
  return { code, out }
}

it('polls every source once, and says what was read or what to do', async () => {
  const demo = await startDemoServer({})
  await using silent = await hostileServer((socket) => void socket.resume())
  try {
    const address = formatHostPort(demo.address)
    const up = await run([address, '--poll-timeout', '30s'])
    expect(up).toEqual({ code: 0, out: expect.stringMatching(/^Server\n {2}✓ Status \(.*game version 1\.21\.11/) })
    const rcon = await run([address, '--mc-query', `127.0.0.1:${silent.port}`, '--poll-timeout', '1s'])
    expect(rcon).toEqual({ code: 1, out: expect.stringMatching(/\n {2}✗ Query \(/) })
    const down = await run([`127.0.0.1:${silent.port}`, '--poll-timeout', '500ms'])
    expect(down).toEqual({ code: 1, out: expect.stringMatching(/^Server\n {2}✗ Status \([^\n]+\n$/) })
  } finally {
    await demo.close()
  }
})

it('names the target of a refused connection once', async () => {
  const { out } = await run(['127.0.0.1:1'])
  expect(out).toMatch(/^Server\n {2}✗ Status \(127\.0\.0\.1:1\): connection refused/)
  expect(out.split('127.0.0.1:1')).toHaveLength(2)
})

it('says nothing about a server whose poll was stopped', async () => {
  const stop = new AbortController()
  await using silent = await hostileServer(() => stop.abort())
  expect(await run([`127.0.0.1:${silent.port}`], stop.signal)).toEqual({ code: 'stopped', out: '' })
})

it('names a list of servers that is not read in time, and claims no demo server beside it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await using silent = await hostileServer(() => void vi.advanceTimersByTimeAsync(10_000))
  const { code, out } = await run(['--discovery-http-sd', `http://127.0.0.1:${silent.port}/list`])
  expect(code).toBe(1)
  expect(out).toContain(`✗ 127.0.0.1:${silent.port}/list: it was not read within 10 s\n✗ No server is configured.\n`)
})

it('names a file of servers with a mistake once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-check-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'x.yaml'), 'address: "127.0.0.1:1"\nrconn: 3\n')
  const { code, out } = await run(['--discovery-folder', folder])
  expect(code).toBe(1)
  expect(out).toContain('✗ x.yaml, line 2: rconn: unknown setting; did you mean rcon?\n')
})

it('checks settings without polling, and names every mistake', async () => {
  const { code, out } = await run(['127.0.0.1:1', '--offline', '--settings', '--port', '9000'])
  expect(code).toBe(0)
  expect(out).toContain('  PORT = "9000" (--port)\n')
  expect(out).toContain('  MC_SERVER = "127.0.0.1:1" (--mc-server)\n')
  await expect(run(['--port', 'x', '--poll-interval', 'y'])).rejects.toThrow(
    /^2 settings are wrong:\n.*--port.*\n.*--poll-interval/s,
  )
})

it('loads every snapshot, and names rejected entries with position and reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-check-'))
  try {
    const [file, books] = [join(folder, 'tickwarden.yaml'), join(folder, 'books.json')]
    const database = `{ name: books, file: ${JSON.stringify(books)}, fields: { title: { kind: text, required: true } } }`
    await writeFile(file, `data: { only: true, dir: ${JSON.stringify(folder)} }\ndatabases: [${database}]\n`)
    await writeFile(books, '[{"title": "a", "extra": 1}, {"title": 5}]')
    const noServer = '! No server is configured.\n'
    expect(await run(['--config', file])).toEqual({
      code: 1,
      out: `✗ Database books (books.json)\n  ✗ position 1: title must be string\n  ! position 0: extra is not a field of this database\n${noServer}`,
    })
    await writeFile(books, '[{"title": "a"},\n]')
    const broken = await run(['--config', file])
    expect(broken).toEqual({ code: 1, out: expect.stringMatching(/^✗ Database books \(books.json\): .*line 2, column 1: /) })
    await writeFile(books, '[{"title": "a"}]')
    expect(await run(['--config', file])).toEqual({ code: 0, out: `✓ Database books (books.json)\n${noServer}` })
  } finally {
    await rm(folder, { recursive: true })
  }
})

describe.concurrent('tickwarden check of a server that', () => {
  it.each(Object.entries(hostile))('%s ends with code 1 and one line per source', async (_name, { behave }) => {
    await using server = await hostileServer(behave)
    const { code, out } = await run([`127.0.0.1:${server.port}`, '--poll-timeout', '500ms'])
    expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/^Server\n {2}✗ Status \([^\n]+\n$/) })
  })
})
