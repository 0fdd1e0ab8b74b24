import { commands } from '../../src/commands/definitions/index.ts'
import { flagText, meaningOf, usageOf } from '../../src/commands/help.ts'
import { mcMonitorCommands } from '../../src/commands/mc-monitor/commands.ts'
import { code, table } from './table.ts'

const mcMonitorTable = (): string =>
  table(
    ['command', 'flag', 'environment', 'default'],
    ...mcMonitorCommands.flatMap(({ name, flags }) =>
      flags.map((flag) => [
        code(name),
        code(`-${flag.name}`),
        flag.env === undefined ? '' : code(flag.env),
        code(flag.default || 'none'),
      ]),
    ),
  )

/** A section for each command: usage, flags, exit codes and examples. */
export function commandSections(): string {
  const sections = commands.map((command) => {
    const { name, summary, flags, codes, examples, notes } = command
    return [
      `## ${name}`,
      `${code(usageOf(command))}: ${summary}.`,
      ...(notes === undefined ? [] : [notes.replaceAll(/(?<!\w)--[\w-]+(?: sources)?/g, code).replaceAll(/\w+:\/\//g, code)]),
      ...(flags.length === 0
        ? []
        : [table(['flag', 'meaning'], ...flags.map((flag) => [code(flagText(flag)), meaningOf(flag)]))]),
      ...(name === 'mc-monitor' ? [mcMonitorTable()] : []),
      table(['exit code', 'meaning'], ...Object.entries(codes).map(([exit, meaning]) => [exit, meaning])),
      'Examples:',
      examples.map(({ line, meaning }) => `- ${code(line)}: ${meaning}`).join('\n'),
    ].join('\n\n')
  })
  return sections.join('\n\n')
}
