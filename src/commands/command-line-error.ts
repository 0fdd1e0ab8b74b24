import { allSettings } from '../config/settings.ts'
import { closestName } from '../settings/closest-name.ts'
import { flagOf } from '../settings/setting.ts'

const commands = ['serve', 'demo', 'update', 'record', 'authorise']
const flags = ['--config', ...allSettings.map(flagOf)]
const secrets = allSettings.filter(({ secret }) => secret)

/**
 * The error message of the command line parser without values, which may be secrets.
 * @param args of the command line, to suggest a command
 */
export function commandLineError(text: string, args: readonly string[] = []): string {
  if (text.startsWith("error: too many arguments for 'serve'")) {
    const [meant] = args.flatMap((arg) => (arg.startsWith('-') ? [] : (closestName(arg.toLowerCase(), commands, 2) ?? [])))
    const advice = meant === undefined ? `the commands are ${commands.join(', ')}` : `did you mean ${meant}?`
    return `error: unknown command, or a value without a flag; ${advice}\n`
  }
  const flag = /^error: unknown option '(--?[^=']*)/.exec(text)?.[1]
  if (flag === undefined) return text
  const secret = secrets.find(({ env }) => flagOf({ env }) === flag)
  if (secret === undefined) {
    const meant = text.includes('Did you mean') ? undefined : closestName(flag, flags, 2)
    return `${text.replace(/^([^=]*)=.*'/s, "$1'").trimEnd()}${meant === undefined ? '' : `; did you mean ${meant}?`}\n`
  }
  const file = `${secret.env}_FILE (${flagOf(secret)})`
  return `error: ${flag} is not an option, because other users of this machine can read flags; set ${secret.env}, or set ${file} to a file that contains it\n`
}
