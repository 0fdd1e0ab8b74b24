import { flagOf } from '../config/setting.ts'
import { allSettings } from '../config/settings.ts'

const secrets = allSettings.filter(({ secret }) => secret)

/** The error message of the command line parser without values, which may be secrets. */
export function commandLineError(text: string): string {
  if (text.startsWith("error: too many arguments for 'serve'"))
    return 'error: unknown command, or a value without a flag; the commands are serve, demo, update, record and authorise\n'
  const flag = /^error: unknown option '(--?[^=']*)/.exec(text)?.[1]
  if (flag === undefined) return text
  const secret = secrets.find(({ env }) => flagOf({ env }) === flag)
  if (secret === undefined) return text.replace(/^([^=]*)=.*'/s, "$1'")
  const file = `${secret.env}_FILE (${flagOf(secret)})`
  return `error: ${flag} is not an option, because other users of this machine can read flags; set ${secret.env}, or set ${file} to a file that contains it\n`
}
