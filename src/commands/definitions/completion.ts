import { type Command, wrongUsage } from '../command.ts'

export const shells = ['bash', 'zsh', 'fish'] as const

export const completion: Command = {
  name: 'completion',
  summary: 'print the completion of a shell',
  args: [{ name: 'shell', choices: shells }],
  flags: [],
  codes: { 0: 'printed', ...wrongUsage },
  examples: [
    { line: 'eval "$(tickwarden completion bash)"', meaning: 'in ~/.bashrc; zsh in ~/.zshrc' },
    { line: 'tickwarden completion fish > ~/.config/fish/completions/tickwarden.fish', meaning: 'for fish' },
  ],
  async run({ args, loadCommands }) {
    const { completionScript } = await import('../completion.ts')
    process.stdout.write(await completionScript(args[0] ?? '', await loadCommands()))
    return 0
  },
}
