import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { openHistory } from '../../src/history/history.ts'
import { silentLog } from '../../src/util/log.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

const page = readFileSync(new URL('../../docs/history.md', import.meta.url), 'utf8')
const queries = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, query = '']) => query)

it('has queries that find what was recorded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-queries-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // The queries ask for the last days.
  const clock = manualClock(Math.floor(Date.now() / 60_000 - 60) * 60_000 - 1_700_000_000_000)
  const list = (...names: string[]) => ({ players: { complete: true, players: names.map((name) => ({ name })) } })
  const status = { version: '1.21.11', playersOnline: 3 }
  const fleet = fakeFleet({ Survival: { status, rcon: list() } }, clock)
  const history = await openHistory({ fleet, clock, log: silentLog, folder })
  for (const names of [[], ['Alice'], ['Alice'], [], undefined, []]) {
    const refused = { status: new SourceError('refused', 'connection refused') }
    fleet.scripts.Survival = names === undefined ? refused : { status, rcon: list(...names) }
    await clock.advance(5_000)
    await fleet.pollAll()
  }
  fleet.close()
  await history.close()
  const db = new Database(join(folder, 'history.db'))
  onTestFinished(() => void db.close())
  expect(queries).toHaveLength(6)
  const rows = queries.map((query) => db.prepare(query).all())
  expect(rows).toMatchObject([
    [{ name: 'Survival', record_players: 3, since: expect.stringMatching(/^\d{4}-\d\d-\d\d /) }],
    [{ name: 'Survival', percent: expect.closeTo(80, -1) }],
    [{ players: 3 }],
    [{ server: 'Survival', player: 'Alice', sessions: 1 }],
    expect.arrayContaining([expect.objectContaining({ kind: 'version', detail: '1.21.11' })]),
    [{ name: 'Survival', kind: 'down', seconds: 5, detail: 'refused', note: null }],
  ])
})
