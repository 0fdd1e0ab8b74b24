// Runs the update of the comebacks, as built, once. It waits for a line of input first: loading takes longer than the run.
import { once } from 'node:events'
import { loadConfig } from '../../dist/src/config/config.js'
import { startRun } from '../../dist/src/data/runs/execute.js'
import { kcomebacks } from '../../dist/src/data/scripts/kcomebacks/index.js'
import { runKcomebacks } from '../../dist/src/data/scripts/kcomebacks/script.js'
import { noProgress, scriptSettings } from '../../dist/src/data/scripts/script.js'
import { systemClock } from '../../dist/src/util/clock.js'
import { silentLog } from '../../dist/src/util/log.js'

process.stdout.write('ready\n')
await once(process.stdin, 'data')
// That of the list loads the script only when it runs.
const script = { ...kcomebacks, run: runKcomebacks }
const values = scriptSettings(loadConfig())
const run = await startRun({
  ...{ script, values, dataDir: values.dataDir, clock: systemClock, log: silentLog, progress: noProgress },
  ...{ trigger: 'command', signal: new AbortController().signal, full: true, dryRun: false, force: false },
})
process.stdout.write(run === 'already running' ? run : (await run.ended).outcome)
process.exit()
