import type { Command, Flag } from './command.ts'

type Completed = Awaited<ReturnType<typeof complete>>

const help: Flag = { name: 'help', meaning: 'print the help' }

async function complete({ name, summary, flags, args = [], settings, isRaw }: Command) {
  const others = [...((await settings?.()) ?? [])].map(([name, { meaning }]): Flag => ({ name, value: 'value', meaning }))
  const words = args.flatMap(({ choices = [] }) => choices)
  return { name, summary, words, flags: isRaw ? [] : [...flags, ...others, help] }
}

const isFile = ({ value }: Flag): boolean => value === 'file' || value === 'folder'

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, flags, words }) => `    ${name}) words="${[...words, ...flags.map(({ name }) => `--${name}`)].join(' ')}" ;;`,
  )
  const names = commands.map(({ name }) => name).join(' ')
  return `_tickwarden() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${names} help --help --version" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${names} help --help --version"; fi
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
      const value = flag.value === undefined ? '' : `:${flag.value}:${isFile(flag) ? '_files' : ''}`
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

function fish(commands: readonly Completed[]): string {
  const text = (value: string) => quoted(value.replaceAll('\\', '\\\\'), "\\'")
  const names = commands.map(
    ({ name, summary }) => `complete -c tickwarden -f -n __fish_use_subcommand -a ${name} -d ${text(summary)}`,
  )
  const flags = commands.flatMap(({ name, flags, words }) => [
    ...flags.map(
      (flag) =>
        `complete -c tickwarden -n '__fish_seen_subcommand_from ${name}' -l ${flag.name}${flag.value === undefined || flag.isValueOptional ? '' : ' -r'} -d ${text(flag.meaning)}`,
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
