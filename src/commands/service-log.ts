import { once } from 'node:events'
import { pino } from 'pino'
import sonicBoom from 'sonic-boom'
import type { Clock } from '../util/clock.ts'
import { waitUpTo } from '../util/wait-up-to.ts'

/** Bytes of lines that wait for a reader that is slow; further lines are dropped. */
const maxWaiting = 1024 * 1024
/** Milliseconds to wait for the reader at the end of the process. */
const maxDrainMs = 1_000

/**
 * Creates the logger of the service, which writes JSON lines to the standard output, or text that people read to a terminal. Not to the
 * destinations of pino and pino-pretty, which at the end of the process try forever to write to a pipe or terminal that has been closed.
 * @param level one of pino's
 */
export async function createServiceLog(level: string, { isTerminal = process.stdout.isTTY } = {}) {
  const output = new sonicBoom.SonicBoom({ fd: process.stdout.fd, maxLength: maxWaiting })
  // A full disk, or a reader that has ended: what could not be written is tried again with the next line.
  output.on('error', () => {})
  const { prettyFactory } = isTerminal ? await import('pino-pretty') : {}
  const prettify = prettyFactory?.({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' })
  const logger = pino({ level }, { write: (line) => output.write(prettify?.(line) ?? line) })
  return {
    logger,
    /** Waits until the lines are written, or cannot be. */
    async drain(clock: Clock): Promise<void> {
      const drained = once(output, 'drain').catch(() => {})
      output.write('')
      await waitUpTo(drained, maxDrainMs, clock)
    },
  }
}
