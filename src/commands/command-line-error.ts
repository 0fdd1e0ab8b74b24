import { flagOf } from '../config/setting.ts'
import { allSettings } from '../config/settings.ts'

const secrets = allSettings.filter(({ secret }) => secret)

/** What the parser of the command line complains of, without the values in it, one of which may be a secret. */
export function commandLineError(text: string): string {
  if (text.startsWith("error: too many arguments for 'serve'"))
    return 'error: there is no such command, or a flag is missing before a value; the commands are serve, demo, update and authorise\n'
  const flag = /^error: unknown option '(--?[^=']*)/.exec(text)?.[1]
  if (flag === undefined) return text
  const secret = secrets.find(({ env }) => flagOf({ env }) === flag)
  if (secret === undefined) return text.replace(/=.*'/s, "'")
  const file = `${secret.env}_FILE (${flagOf(secret)})`
  return `error: ${flag} is no option, because other users of this machine can see flags; set ${secret.env}, or ${file} to a file that holds it\n`
}
