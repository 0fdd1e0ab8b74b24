// Records the history of one server, as built, on a clock that runs faster: `node history-child.mjs <folder> <wall> <times>`.
// Each poll is reported with its time, which is also the number of players, and up to when all is stored.
import { writeSync } from 'node:fs'
import { openHistory } from '../../dist/src/history/history.js'

const [folder, wall, times] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]
/** The time of a poll while one is recorded: a machine that is busy must not put it into another bucket than its value. */
let held
const passed = () => held ?? performance.now() * times
const clock = {
  now: passed,
  wall: () => wall + passed(),
  after(delay, action) {
    const timer = setTimeout(action, delay / times)
    return () => clearTimeout(timer)
  },
}
const log = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, (_, text) => writeSync(2, `${text}\n`)]))
const settings = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }
const listeners = new Set()
const unpolled = { server: 'Server', at: 0, fields: {}, sources: [], polls: {} }
const watcher = { server: 'Server', settings, snapshot: () => unpolled }
const fleet = {
  watchers: [watcher],
  get: () => watcher,
  subscribe(listener) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  onChange: () => () => {},
}
const history = await openHistory({ fleet, clock, folder, log })
const poll = () => {
  const at = clock.now()
  held = at
  const field = (value) => ({ value, source: 'status', at })
  const fields = { playersOnline: field(Math.floor(clock.wall() / 10_000) % 10_000), latency: field(0.0015) }
  const snapshot = { server: 'Server', at, fields, sources: [], up: true, lastContact: { at, wall: clock.wall() }, polls: {} }
  for (const listener of listeners) listener(snapshot)
  const wall = clock.wall()
  held = undefined
  writeSync(1, `poll ${wall}\n`)
  // It stores what was recorded, as it does every minute.
  void history.range('Server', { names: ['players'], range: 60_000, points: 10 }).then(() => writeSync(1, `stored ${wall}\n`))
}
poll()
setInterval(poll, 2_000 / times)
