import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    // Not available on this system or to this user.
    return ''
  }
}

/** Identifies the machine, its boot and the PID namespace, so that each container counts as a separate machine. */
export const machine: string = [
  hostname(),
  readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  readOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
].join(' ')

/**
 * Start time of a process of this machine in kernel clock ticks (field 22 of /proc/<pid>/stat). Process ids are reused, pairs of
 * id and start time are not.
 * @returns `''` if unknown: not Linux, no such process, or another user's process with hidepid
 */
export const startTimeOf = (pid: number): string =>
  readOrEmpty(
    () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] ?? '',
  )

/** Whether a process of any user exists on this machine. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
