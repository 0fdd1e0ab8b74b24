import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { closestName } from './closest-name.ts'
import type { Texts } from './read.ts'
import { environmentOf } from './setting.ts'
import { allSettings } from './settings.ts'

/** The variable that names the config file; it is no setting, because it says where they are. */
export const configVariable = 'TICKWARDEN_CONFIG'

/** Shorter names are too close to variables of other programs: HOME is within two letters of HOST. */
const minCompared = 6
/** Variables of other programs that are within two letters of a setting. */
const otherPrograms: ReadonlySet<string> = new Set(['GITLAB_TOKEN', 'SPOTIPY_CLIENT_ID', 'SPOTIPY_CLIENT_SECRET'])

const isOwn = (name: string): boolean => /^(MC|TICKWARDEN)_/i.test(name)

/** How many letters a variable may be away from a setting to be taken for it. */
function maxDistance(name: string): number {
  if (isOwn(name)) return 2
  return name.length < minCompared ? -1 : name.length < 8 ? 1 : 2
}

/**
 * The environment with the variables of a `.env` file in the working directory added, read by Node's own parser; a variable that is
 * set already wins.
 */
export function withEnvFile(env: Texts, problems: string[]): Texts {
  try {
    return { ...parseEnv(readFileSync('.env', 'utf8')), ...env }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A folder of that name is often the environment of another language.
    if (code !== 'ENOENT' && code !== 'EISDIR') problems.push(`.env: cannot be read (${code})`)
    return env
  }
}

/**
 * Variables that are no setting: one whose name is close to that of a setting is a problem, any other of ours (`MC_...`,
 * `TICKWARDEN_...`) a warning: Kubernetes sets `MC_PORT` for a Service called mc.
 */
export function checkVariables(env: Texts, problems: string[], warnings: string[]): void {
  const names = new Set([...allSettings.flatMap(environmentOf), configVariable])
  for (const [name, value] of Object.entries(env)) {
    // Some systems ignore the case of names, so that the setting is there too.
    const isSetting = names.has(name) || (names.has(name.toUpperCase()) && env[name.toUpperCase()] === value)
    if (!value || isSetting || otherPrograms.has(name)) continue
    const meant = closestName(name.toUpperCase(), names, maxDistance(name))
    if (meant !== undefined) problems.push(`${name}: there is no such setting; did you mean ${meant}?`)
    else if (isOwn(name)) warnings.push(`The environment variable ${name} is ignored: there is no such setting.`)
  }
}
