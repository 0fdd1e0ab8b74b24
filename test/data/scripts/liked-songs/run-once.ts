import { loadConfig } from '../../../../src/config/config.ts'
import { runLikedSongs } from '../../../../src/data/scripts/liked-songs/script.ts'
import { noCounts, noProgress, type RunContext, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'

/**
 * One run in a separate process, so that it can be killed; bundled: node run-once.js DATA_DIR. Prints the result and the peak
 * memory.
 */
const [dataDir = ''] = process.argv.slice(2)
const context: RunContext = {
  values: scriptSettings(loadConfig()),
  dataDir,
  signal: new AbortController().signal,
  log: silentLog,
  clock: systemClock,
  progress: noProgress,
  counts: { ...noCounts },
  full: false,
  dryRun: false,
  force: false,
}
const result = await runLikedSongs(context, { gap: 0, backOff: 1 })
console.log(JSON.stringify({ ...result, peakMegabytes: process.resourceUsage().maxRSS / 1024 }))
