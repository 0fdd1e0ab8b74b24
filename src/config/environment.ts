import { parseEnv } from 'node:util'
import { closestName } from '../settings/closest-name.ts'
import type { Texts } from '../settings/read.ts'
import { readText, type UnreadableFileError } from '../settings/read-text.ts'
import { environmentOf } from '../settings/setting.ts'
import { removedSettings } from './removed-settings.ts'
import { allSettings } from './settings.ts'

/** The variable with the path of the config file. Not a setting, so it cannot be set in the file. */
export const configVariable = 'TICKWARDEN_CONFIG'

/** Minimum length of names that are compared with settings. Shorter ones are too similar to other variables: HOME to HOST. */
const minCompared = 6
/** Variables of other programs whose names are similar to settings. */
const otherPrograms: ReadonlySet<string> = new Set(['GITLAB_TOKEN', 'SPOTIPY_CLIENT_ID', 'SPOTIPY_CLIENT_SECRET'])

const serverVariable = 'MC_SERVER'
/** Names that users expect the address of the server to have. Kubernetes sets none of them for a Service. */
const namesOfServer: ReadonlySet<string> = new Set([
  ...['HOST', 'ADDRESS', 'ADDR', 'IP', 'URL'].flatMap((name) => [`MC_${name}`, `MC_SERVER_${name}`]),
  'TICKWARDEN_SERVER',
  'TICKWARDEN_MC_SERVER',
])

/** The two variables of each secret, of which only one may be set. */
const secrets = allSettings.filter(({ secret }) => secret).map(environmentOf)
/** The variables of all settings. */
const names = new Set([...allSettings.flatMap(environmentOf), configVariable])

const isOwn = (name: string): boolean => /^(MC|TICKWARDEN)_/i.test(name)

/** Maximum edit distance at which a variable is treated as a misspelt setting. */
function maxDistance(name: string): number {
  if (isOwn(name)) return 2
  return name.length < minCompared ? -1 : name.length < 8 ? 1 : 2
}

/**
 * Adds the variables of a `.env` file in the working directory, read by Node's parser, to the environment. Variables that are
 * already set take precedence, also a secret over the file of the same secret. A setting written as in YAML, which that parser skips
 * without a word, is a problem.
 */
export function withEnvFile(env: Texts, problems: string[]): Texts {
  try {
    const text = readText('.env')
    const parsed = parseEnv(text)
    // A value in quotes may have such lines.
    const further = Object.values(parsed).flatMap((value = '') => value.split('\n').slice(1))
    const inValues = new Set(further.map((line) => line.slice(0, line.indexOf(':') + 1)))
    for (const [found, name = ''] of text.matchAll(/^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*:/gm))
      if (names.has(name) && !inValues.has(found)) problems.push(`.env: ${name} is followed by a colon; expected ${name}=...`)
    const replaced = secrets.filter((pair) => pair.some((name) => env[name])).flat()
    return { ...parsed, ...Object.fromEntries(replaced.map((name) => [name, undefined])), ...env }
  } catch (error) {
    const { code, message } = error as UnreadableFileError
    // A folder of that name is often a Python virtual environment.
    if (code !== 'ENOENT' && code !== 'EISDIR') problems.push(`.env: cannot be read (${message})`)
    return env
  }
}

/**
 * Reports variables that are not settings: a problem if the name is similar to a setting or, where no server is configured,
 * probably meant as its address; else a warning if it starts with `MC_` or `TICKWARDEN_`. Only a warning, because Kubernetes sets
 * `MC_PORT` for a Service named mc.
 * @param hasServer whether flags or a config file name one
 */
export function checkVariables(env: Texts, hasServer: boolean, problems: string[], warnings: string[]): void {
  for (const [name, value] of Object.entries(env)) {
    // Windows ignores the case of names, so the setting may appear under both.
    const isSetting = names.has(name) || (names.has(name.toUpperCase()) && env[name.toUpperCase()] === value)
    if (!value || isSetting || otherPrograms.has(name)) continue
    const removed = removedSettings.find(({ env }) => env === name)
    if (removed !== undefined) {
      warnings.push(`The environment variable ${name} is ignored: the setting was removed; ${removed.instead}.`)
      continue
    }
    const isServer = !hasServer && !env[serverVariable] && namesOfServer.has(name.toUpperCase())
    const meant = isServer ? serverVariable : closestName(name.toUpperCase(), names, maxDistance(name))
    if (meant !== undefined) problems.push(`${name}: unknown setting; did you mean ${meant}?`)
    else if (isOwn(name)) {
      // Kubernetes sets it to a URL.
      const isPort = /^MC_(?:SERVER_)?PORT$/i.test(name) && /^\d+$/.test(value)
      warnings.push(
        `The environment variable ${name} is ignored: ${isPort ? 'a port belongs to MC_SERVER, as host:port' : 'unknown setting'}.`,
      )
    }
  }
}
