import { loadConfig } from '../../../../src/config/config.ts'
import { createLikedSongsScript } from '../../../../src/data/scripts/liked-songs/script.ts'
import { noCounts, noProgress, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'

/**
 * One run in a separate process, so that it can be killed; bundled: node run-once.js DATA_DIR. Prints the result and the peak
 * memory.
 */
const [dataDir = ''] = process.argv.slice(2)
const result = await createLikedSongsScript({ gap: 0, backOff: 1 }).run({
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
})
console.log(JSON.stringify({ ...result, peakMegabytes: process.resourceUsage().maxRSS / 1024 }))
