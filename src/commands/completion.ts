import type { Command, Flag } from './command.ts'

type Completed = Awaited<ReturnType<typeof complete>>

const help: Flag = { name: 'help', meaning: 'print the help' }

async function complete({ name, summary, flags, args = [], settings, isRaw }: Command) {
  const others = [...((await settings?.()) ?? [])].map(
    ([name, { meaning, secret, kind }]): Flag => ({
      ...{ name, meaning, value: secret || kind.isLocal ? 'file' : 'value' },
      ...(kind.choices && { choices: kind.choices }),
    }),
  )
  const words = args.flatMap(({ choices = [] }) => choices)
  return { name, summary, words, flags: isRaw ? [] : [...flags, ...others, help] }
}

const isFile = ({ value }: Flag): boolean => value === 'file' || value === 'folder'

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, flags, words }) => `    ${name}) words="${[...words, ...flags.map(({ name }) => `--${name}`)].join(' ')}" ;;`,
  )
  const names = commands.map(({ name }) => name).join(' ')
  const valued = [...new Map(commands.flatMap(({ flags }) => flags.map((flag) => [flag.name, flag]))).values()]
  const values = valued.flatMap((flag) => (flag.choices ? [`    --${flag.name}) words="${flag.choices.join(' ')}" ;;`] : []))
  const files = valued.filter(isFile).map(({ name }) => `--${name}`)
  return `_tickwarden() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${names} help --help --version" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${names} help --help --version"; fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
    ${files.join('|')}) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _tickwarden tickwarden
`
}

/** A text in single quotes of zsh or fish. */
const quoted = (text: string, escaped: string): string => `'${text.replaceAll("'", escaped)}'`

/** Brackets and colons have a meaning in the specifications of `_arguments`. */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, (character) => `\\${character}`)

function zsh(commands: readonly Completed[]): string {
  const names = commands.map(({ name, summary }) => `    ${quoted(`${name}:${zshText(summary)}`, `'\\''`)}`)
  const cases = commands.map(({ name, flags, words }) => {
    const specs = flags.map((flag) => {
      const values = flag.choices ? `(${flag.choices.join(' ')})` : isFile(flag) ? '_files' : ''
      const value = flag.value === undefined ? '' : `:${flag.value}:${values}`
      return quoted(`--${flag.name}[${zshText(flag.meaning)}]${value}`, `'\\''`)
    })
    const rest = words.length > 0 ? `'*:word:(${words.join(' ')})'` : `'*:argument:_default'`
    return `    ${name}) _arguments ${[...specs, rest].join(' \\\n      ')} ;;`
  })
  return `#compdef tickwarden
_tickwarden() {
  local -a names
  names=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command names; return; fi
  case "\${words[2]}" in
${cases.join('\n')}
  esac
}
compdef _tickwarden tickwarden
`
}

/** What fish completes after a flag: its choices, or files. */
const fishValue = ({ value, isValueOptional, choices }: Flag): string =>
  value === undefined || isValueOptional ? '' : choices ? ` -x -a '${choices.join(' ')}'` : ' -r'

function fish(commands: readonly Completed[]): string {
  const text = (value: string) => quoted(value.replaceAll('\\', '\\\\'), "\\'")
  const names = commands.map(
    ({ name, summary }) => `complete -c tickwarden -f -n __fish_use_subcommand -a ${name} -d ${text(summary)}`,
  )
  const flags = commands.flatMap(({ name, flags, words }) => [
    ...flags.map(
      (flag) =>
        `complete -c tickwarden -n '__fish_seen_subcommand_from ${name}' -l ${flag.name}${fishValue(flag)} -d ${text(flag.meaning)}`,
    ),
    ...(words.length > 0
      ? [`complete -c tickwarden -f -n '__fish_seen_subcommand_from ${name}' -a ${text(words.join(' '))}`]
      : []),
  ])
  return `${[...names, ...flags].join('\n')}\n`
}

const writers: Readonly<Record<string, (commands: readonly Completed[]) => string>> = { bash, zsh, fish }

/** The completion of a shell; empty if it is not supported. */
export async function completionScript(shell: string, commands: readonly Command[]): Promise<string> {
  return writers[shell]?.(await Promise.all(commands.map(complete))) ?? ''
}
