import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** Makes the locks in a folder look as if their holders had been killed some time ago, milliseconds. */
export function ageLocks(folder: string, ageMs: number): void {
  const then = new Date(Date.now() - ageMs)
  for (const name of readdirSync(folder)) if (name.endsWith('.lock')) utimesSync(join(folder, name), then, then)
}
