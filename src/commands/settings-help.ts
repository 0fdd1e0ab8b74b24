import { allSettings, settings } from '../config/settings.ts'
import { flagOf, type Setting } from '../settings/setting.ts'

const fallback = ({ default: given, otherwise }: Setting<unknown>): string =>
  given ? ` [${given}]` : otherwise ? ` [${otherwise}]` : ''

/** The list of settings in `--help`: environment name, meaning, default in brackets. */
export function settingsHelp(): string {
  const width = Math.max(...allSettings.map(({ env }) => env.length)) + 2
  const rows = allSettings.map((setting) => `  ${setting.env.padEnd(width)}${setting.meaning}${fallback(setting)}`)
  return [
    '',
    'Settings, with their defaults in brackets. Each can be set as an environment variable or as a flag (MC_SERVER is',
    '--mc-server). Most can also be set in tickwarden.yaml, or in the file that --config or TICKWARDEN_CONFIG names, which can',
    'list many servers (see docs/many-servers.md); settings that begin with MC_ then apply to the first server. Flags take',
    'precedence over the environment, the environment over the file. Passwords, secrets, tokens and keys have no flag: set the',
    `variable, or set NAME_FILE (${flagOf(settings.runToken)}) to a file that contains the value.`,
    '',
    ...rows,
  ].join('\n')
}
