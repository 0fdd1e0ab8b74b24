import cliProgress from 'cli-progress'
import type { RunRecord } from '../data/runs/history.ts'
import type { Progress, Script } from '../data/scripts/script.ts'
import type { Clock } from '../util/clock.ts'
import { escapeControls } from '../util/escape-controls.ts'
import { type Log, silentLog } from '../util/log.ts'

/** An output stream, which may be a terminal. */
export type Terminal = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean }

/** Minimum time between two lines of progress without a terminal, milliseconds. */
const lineGap = 1000
/** Maximum number of lines that are kept. */
const maxKept = 200

const seconds = (value: number): string => {
  const whole = Math.max(0, Math.round(value))
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
}

function logLine(parts: readonly unknown[]): string {
  const text = parts.find((part) => typeof part === 'string')
  const { err } = (typeof parts[0] === 'object' && parts[0] !== null ? parts[0] : {}) as { err?: { message?: unknown } }
  return [text, err?.message]
    .filter((part) => typeof part === 'string')
    .map(escapeControls)
    .join(': ')
}

/** The result of a run, as a table with one row. */
export function summary({ script, outcome, counts, duration }: RunRecord): string {
  const cells = { script, outcome, ...counts, time: `${duration.toFixed(1)} s` }
  const columns = Object.entries(cells).map(([name, value]) => {
    const width = Math.max(name.length, String(value).length)
    const pad = (text: string) => (typeof value === 'number' ? text.padStart(width) : text.padEnd(width))
    return [pad(name), pad(String(value))]
  })
  return [0, 1]
    .map((row) =>
      columns
        .map((column) => column[row])
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Shows the progress of a run: a bar on a terminal, else lines; and a summary at the end. */
export function createRunDisplay({ parts }: Pick<Script, 'parts'>, stdout: Terminal, stderr: Terminal, clock: Clock) {
  let [total, done, began, lastLine] = [0, 0, 0, Number.NEGATIVE_INFINITY]
  let bar: cliProgress.SingleBar | undefined
  /** Printed lines, so that no error is printed twice. */
  const printed: string[] = []
  /** Lines that are printed below the progress bar once it has ended. */
  const waiting: string[] = []
  let dropped = 0

  const pace = () => {
    const elapsed = (clock.now() - began) / 1000
    const rate = elapsed > 0 ? done / elapsed : 0
    return { rate: `${rate.toFixed(1)}/s`, left: rate > 0 ? seconds((total - done) / rate) : '?' }
  }
  const print = (...parts: readonly unknown[]) => {
    // The summary shows the end of a run.
    if (typeof parts[0] === 'object' && parts[0] !== null && 'outcome' in parts[0]) return
    const line = logLine(parts)
    if (printed.length < maxKept) printed.push(line)
    if (bar === undefined) stderr.write(`${line}\n`)
    else if (waiting.length < maxKept) waiting.push(line)
    else dropped++
  }
  let cancelCountdown = () => {}
  const countDown = (upstream: string, until: number) => {
    cancelCountdown()
    const remaining = until - clock.now()
    if (bar === undefined || remaining <= 0) return
    bar.update(done, { label: `${upstream}: rate limited, ${seconds(Math.ceil(remaining / 1000))} left`, ...pace() })
    cancelCountdown = clock.after(1000, () => countDown(upstream, until))
  }
  /** Ends the progress bar, if there is one. May be called twice. */
  const stop = () => {
    cancelCountdown()
    bar?.stop()
    bar = undefined
    for (const line of waiting.splice(0)) stderr.write(`${line}\n`)
    if (dropped > 0) stderr.write(`and ${dropped} more warnings\n`)
    dropped = 0
  }

  const progress: Progress = {
    total(given) {
      if (total === 0) began = clock.now()
      total = given
      if (stdout.isTTY !== true) return
      if (bar !== undefined) return bar.setTotal(given)
      const format = `{bar} {percentage}% | {value}/{total} ${parts} | {rate} | {left} left | {label}`
      const stream = stdout as NodeJS.WriteStream
      const { BarFormat: formatBar } = cliProgress.Format
      bar = new cliProgress.SingleBar({ format, stream, formatBar, hideCursor: true, gracefulExit: false, barsize: 24 })
      bar.start(given, 0, { label: '', ...pace() })
    },
    step(given) {
      const label = escapeControls(given)
      cancelCountdown()
      done++
      if (bar !== undefined) {
        bar.update(done, { label, ...pace() })
        return
      }
      if (clock.now() - lastLine < lineGap && done !== total) return
      lastLine = clock.now()
      const { rate, left } = pace()
      stdout.write(`${done}/${total} ${parts}, ${rate}, ${left} left: ${label}\n`)
    },
    wait(upstream, milliseconds) {
      if (bar !== undefined) countDown(upstream, clock.now() + milliseconds)
      else stdout.write(`${upstream}: rate limited, waiting ${seconds(milliseconds / 1000)}\n`)
    },
  }
  return {
    progress,
    log: { ...silentLog, warn: print, error: print } as Log,
    stop,
    end(record: RunRecord, dryRun: boolean): void {
      stop()
      stdout.write(`\n${summary(record)}\n`)
      if (dryRun) stdout.write('Dry run: nothing was changed.\n')
      for (const error of record.errors.map(escapeControls)) {
        if (!printed.some((line) => line.includes(error))) stderr.write(`  ${error}\n`)
      }
      if (record.retryAt !== undefined) stderr.write(`  Rate limited until ${record.retryAt}.\n`)
    },
  }
}
