import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isSupported } from './require-tool.ts'

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tickwarden')
const isThere = (program: string): boolean => spawnSync(program, ['version']).status === 0

/**
 * The command helm: an installed one, else the one in the user's cache. With LONG_TESTS=1 or REQUIRE_TOOLS=1 Go
 * compiles it there, which takes minutes. No package of Debian has it, so its tests are skipped where Go is missing too; a job of
 * .github/workflows/test.yml runs them.
 */
export function findHelm(): string | undefined {
  const built = join(cache, 'helm')
  const go = ['go', '/usr/local/go/bin/go'].find(isThere)
  const mayCompile = process.env.LONG_TESTS === '1' || process.env.REQUIRE_TOOLS === '1'
  if (!isThere('helm') && !existsSync(built) && go !== undefined && mayCompile)
    execFileSync(go, ['install', 'helm.sh/helm/v3/cmd/helm@v3.18.6'], { env: { ...process.env, GOBIN: cache }, stdio: 'pipe' })
  const helm = ['helm', built].find(isThere)
  return isSupported(helm !== undefined, 'helm is not installed') ? helm : undefined
}
