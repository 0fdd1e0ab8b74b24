import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    // Not on this system, or not for this user.
    return ''
  }
}

/** The machine, its boot and the namespace that process ids are of: a container counts as a machine of its own. */
export const machine: string = [
  hostname(),
  readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  readOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
].join(' ')

/**
 * When a process of this machine started, in the kernel's clock ticks: a process id is used again, the pair is not. Field 22 of
 * /proc/<pid>/stat; the name before it may contain spaces and brackets.
 * @returns `''` if it is unknown: another system, no such process, or one of another user under hidepid
 */
export const startTimeOf = (pid: number): string =>
  readOrEmpty(
    () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] ?? '',
  )

/** Whether a process exists on this machine, also one of another user. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
