import { flagOf, type Setting } from '../config/setting.ts'
import { allSettings, settings } from '../config/settings.ts'

const fallback = ({ default: given, otherwise }: Setting<unknown>): string =>
  given ? ` [${given}]` : otherwise ? ` [${otherwise}]` : ''

/** The settings as `--help` prints them: environment name, meaning, default in brackets. */
export function settingsHelp(): string {
  const width = Math.max(...allSettings.map(({ env }) => env.length)) + 2
  const rows = allSettings.map((setting) => `  ${setting.env.padEnd(width)}${setting.meaning}${fallback(setting)}`)
  return [
    '',
    'Settings, with their defaults in brackets. Each is an environment variable and a flag (MC_SERVER is --mc-server);',
    'tickwarden.yaml, or the file that --config or TICKWARDEN_CONFIG names, takes most of them too, and many servers (see docs/many-servers.md):',
    'those that begin with MC_ are then the settings of the first server. A flag takes precedence over the environment, the',
    'environment over the file. A password, secret, token or key is never a flag: set it, or set NAME_FILE',
    `(${flagOf(settings.runToken)}) to a file that holds it.`,
    '',
    ...rows,
  ].join('\n')
}
