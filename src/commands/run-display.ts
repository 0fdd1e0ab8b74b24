import cliProgress from 'cli-progress'
import type { Clock } from '../clock.ts'
import type { RunRecord } from '../data/runs/history.ts'
import type { Progress, Script } from '../data/scripts/script.ts'
import { escapeControls } from '../escape-controls.ts'
import type { Log } from '../log.ts'

/** A stream to a person or a file. */
export type Terminal = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean }

export interface RunDisplay {
  readonly progress: Progress
  /** Shows warnings and errors; on a terminal once the bar is gone. */
  readonly log: Log
  end(record: RunRecord, dryRun: boolean): void
  /** Ends the bar, if it still stands. May be called twice. */
  stop(): void
}

/** Lines of progress in a file are no further apart than this, milliseconds, and no closer. */
const lineGap = 1000
const keptWarnings = 200

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

/** What a run did, as a table of one row. */
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

/** Shows a run: a bar with rate and time left on a terminal, lines elsewhere, and a summary at its end. */
export function createRunDisplay({ parts }: Pick<Script, 'parts'>, stdout: Terminal, stderr: Terminal, clock: Clock): RunDisplay {
  let [total, done, began, lastLine] = [0, 0, 0, Number.NEGATIVE_INFINITY]
  let bar: cliProgress.SingleBar | undefined
  const held: string[] = []
  /** So that no error is shown twice. */
  const said: string[] = []
  let dropped = 0

  const pace = () => {
    const elapsed = (clock.now() - began) / 1000
    const rate = elapsed > 0 ? done / elapsed : 0
    return { rate: `${rate.toFixed(1)}/s`, left: rate > 0 ? seconds((total - done) / rate) : '?' }
  }
  const say = (parts: readonly unknown[]) => {
    // The end of a run is shown by the summary.
    if (typeof parts[0] === 'object' && parts[0] !== null && 'outcome' in parts[0]) return
    const line = logLine(parts)
    if (said.length < keptWarnings) said.push(line)
    if (bar === undefined) stderr.write(`${line}\n`)
    else if (held.length < keptWarnings) held.push(line)
    else dropped++
  }
  let cancelCountdown = () => {}
  const countDown = (upstream: string, until: number) => {
    cancelCountdown()
    const left = until - clock.now()
    if (bar === undefined || left <= 0) return
    bar.update(done, { label: `${upstream}: rate limited, ${seconds(Math.ceil(left / 1000))} left`, ...pace() })
    cancelCountdown = clock.after(1000, () => countDown(upstream, until))
  }
  const stop = () => {
    cancelCountdown()
    bar?.stop()
    bar = undefined
    for (const line of held.splice(0)) stderr.write(`${line}\n`)
    if (dropped > 0) stderr.write(`and ${dropped} more warnings\n`)
    dropped = 0
  }

  return {
    progress: {
      total(given) {
        if (total === 0) began = clock.now()
        total = given
        if (stdout.isTTY !== true) return
        if (bar !== undefined) return bar.setTotal(given)
        const format = `{bar} {percentage}% | {value}/{total} ${parts} | {rate} | {left} left | {label}`
        const stream = stdout as NodeJS.WriteStream
        bar = new cliProgress.SingleBar({
          format,
          stream,
          hideCursor: true,
          formatBar: cliProgress.Format.BarFormat,
          gracefulExit: false,
          barsize: 24,
        })
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
    },
    log: {
      debug() {},
      info() {},
      warn: (...line: readonly unknown[]) => say(line),
      error: (...line: readonly unknown[]) => say(line),
    },
    stop,
    end(record, dryRun) {
      stop()
      stdout.write(`\n${summary(record)}\n`)
      if (dryRun) stdout.write('A dry run: nothing was changed.\n')
      for (const error of record.errors.map(escapeControls)) {
        if (!said.some((line) => line.includes(error))) stderr.write(`  ${error}\n`)
      }
      if (record.retryAt !== undefined) stderr.write(`  Rate limited until ${record.retryAt}.\n`)
    },
  }
}
