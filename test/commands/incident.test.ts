import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runIncident } from '../../src/commands/incident.ts'
import { loadConfig } from '../../src/config/config.ts'
import { fileName } from '../../src/history/store/open-store.ts'
import { HistoryStore } from '../../src/history/store/store.ts'

/** A history with an incident of one server, and how to run the command on it. */
function setUp(name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-incident-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const store = new HistoryStore({ path: join(folder, fileName) })
  const [server = 0] = store.servers([name]).map(({ id }) => id)
  const [from, to] = [1_000, 2_000]
  const incident = { server, kind: 'down', from, to, knownAt: to, unknownMs: 0, detail: null } as const
  store.write({ slices: new Float64Array(0), sessions: [], events: [], incidents: [incident] })
  store.close()
  const config = loadConfig({ env: { HISTORY_DIR: folder }, watches: false })
  const lines: string[] = []
  const output = { log: (text: string) => lines.push(text), error: (text: string) => lines.push(text) }
  const run = (...args: readonly string[]) => runIncident({ args, flags: {} } as never, config, output)
  return { folder, id: `${server}-${from}`, lines, run }
}

it('notes the incident of a server whose name is like an ID', async () => {
  const { id, lines, run } = setUp('7-25565')
  const note = (of: string) => run('note', of, 'The disk was full.')
  expect(await note('7-25565')).toBe(0)
  expect(await note(id)).toBe(0)
  expect(await note('8-25565')).toBe(1)
  expect(lines.at(-1)).toContain('There is no incident of "8-25565"')
})

it('prints no control sequence in the name of a server', async () => {
  const { lines, run } = setUp('a\x1b[2J')
  expect(await run('list')).toBe(0)
  expect(lines.at(-1)).toContain('a\\u001b[2J was down')
})

it('names servers that the history does not have, instead of listing the others only', async () => {
  const { lines, run } = setUp('survival')
  expect(await run('list', 'survival', 'survivl', 'lobby')).toBe(1)
  expect(lines).toEqual(['The history has no server "survivl", "lobby".'])
  expect(await run('list', 'survival')).toBe(0)
  expect(lines.at(-1)).toContain('survival was down')
})

it('lists nothing of a file that is empty, as after a start that has failed', async () => {
  const { folder, lines, run } = setUp('survival')
  writeFileSync(join(folder, fileName), '')
  expect(await run('list')).toBe(0)
  expect(await run('list', 'survival')).toBe(1)
  expect(lines).toEqual(['No incident is recorded.', 'The history has no server "survival".'])
})
