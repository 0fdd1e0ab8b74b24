import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

/** Maximum wait for another process, in milliseconds. */
const maxWait = 120_000

/**
 * Waits until `isReady` returns true; an error that it throws means "not yet".
 * @throws Error after two minutes
 */
export async function waitUntil(what: string, isReady: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + maxWait
  let reason: unknown
  while (performance.now() < end) {
    try {
      if (await isReady()) return
    } catch (error) {
      reason = error
    }
    await setTimeout(20)
  }
  throw new Error(`Waited ${maxWait / 1000} s without success for ${what}`, { cause: reason })
}

/**
 * The next message of a child process.
 * @param maxWaitMs default two minutes
 * @throws Error when it exits first, or after `maxWaitMs`
 */
export async function nextMessage<T>(child: ChildProcess, maxWaitMs = maxWait): Promise<T> {
  const stop = new AbortController()
  const exited = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
    throw new Error(`A child process exited with code ${code} before it was ready`)
  })
  const late = setTimeout(maxWaitMs, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`A child process was not ready after ${maxWaitMs / 1000} s`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: stop.signal }), exited, late])
    return message as T
  } finally {
    stop.abort()
    await Promise.allSettled([exited, late])
  }
}

/** Ends the child process when this process ends for any reason. */
export function endWithParent<T extends ChildProcess>(child: T): T {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return child
}
