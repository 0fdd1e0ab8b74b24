// Runs the update of the comebacks, as built, once. It waits for a line of input first: loading takes longer than the run.
import { once } from 'node:events'
import { systemClock } from '../../dist/src/clock.js'
import { loadConfig } from '../../dist/src/config.js'
import { startRun } from '../../dist/src/data/runs/execute.js'
// Not the one of the list, which would load the script only when it runs.
import { kcomebacksScript } from '../../dist/src/data/scripts/kcomebacks/script.js'
import { noProgress, scriptSettings } from '../../dist/src/data/scripts/script.js'
import { silentLog } from '../../dist/src/log.js'

process.stdout.write('ready\n')
await once(process.stdin, 'data')
const values = scriptSettings(loadConfig())
const run = await startRun({
  ...{ script: kcomebacksScript, values, dataDir: values.dataDir, clock: systemClock, log: silentLog, progress: noProgress },
  ...{ trigger: 'command', signal: new AbortController().signal, full: true, dryRun: false, force: false },
})
process.stdout.write(run === 'already running' ? run : (await run.ended).outcome)
process.exit()
