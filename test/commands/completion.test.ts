import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { completionScript } from '../../src/commands/completion.ts'
import { commands } from '../../src/commands/definitions/index.ts'

describe('the completion of bash', () => {
  /** What is offered for the last word of each line. */
  async function complete(...lines: readonly (readonly string[])[]) {
    const calls = lines.map(
      (words) =>
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _tickwarden; echo "\${COMPREPLY[*]}"`,
    )
    const script = [await completionScript('bash', commands), ...calls].join('\n')
    return execFileSync('bash', { input: script, encoding: 'utf8' }).split('\n')
  }

  it('has commands, flags and the values of flags', async () => {
    const [first, flags, edition, level, switched, file, secret] = await complete(
      ['tickwarden', 'in'],
      ['tickwarden', 'demo', '--s'],
      ['tickwarden', 'demo', '--edition', ''],
      ['tickwarden', 'serve', '--log-level', 'd'],
      ['tickwarden', 'serve', '--page-public', ''],
      ['tickwarden', 'check', '--config', ''],
      ['tickwarden', 'check', '--mc-rcon-password-file', ''],
    )
    expect(first).toBe('init incident')
    expect(flags).toBe('--software --scenario --seed --status-port')
    expect([edition, level, switched]).toEqual(['java bedrock', 'debug', 'true false'])
    // Without words of ours, bash offers files.
    expect([file, secret]).toEqual(['', ''])
  })
})

it.each([
  ['zsh', "'--edition[java, or bedrock with status only]:name:(java bedrock)'"],
  ['fish', "-l edition -x -a 'java bedrock' -d 'java, or bedrock with status only'"],
])('the completion of %s has the values of flags', async (shell, text) => {
  expect(await completionScript(shell, commands)).toContain(text)
})
