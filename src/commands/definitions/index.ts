import type { Command } from '../command.ts'
import { otherCommands } from './others.ts'
import { serverCommands } from './servers.ts'

const wrongUsage = { 2: 'wrong arguments or settings' } as const

/** Every command, in the order of the help. What a command runs is loaded when it runs. */
export const commands: readonly Command[] = [...serverCommands, ...otherCommands].map((command) => ({
  ...command,
  codes: { ...command.codes, ...wrongUsage },
}))

export const findCommand = (name: string): Command | undefined => commands.find((command) => command.name === name)
