import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { userCache } from '../tools/user-cache.mjs'
import { isSupported } from './require-tool.ts'

/** Where `.ci/run` puts it. */
const compiled = join(userCache, 'helm')

/** The command helm: an installed one, else the one that `.ci/run` compiled. No package of Debian has it, so it may be missing in CI too. */
export function findHelm(): string | undefined {
  const helm = ['helm', compiled].find((program) => spawnSync(program, ['version']).status === 0)
  return isSupported(helm !== undefined, 'helm is not installed') ? helm : undefined
}
