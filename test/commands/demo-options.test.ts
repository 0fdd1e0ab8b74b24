import { describe, expect, it } from 'vitest'
import { findCommand } from '../../src/commands/definitions/index.ts'
import { toDemoOptions } from '../../src/commands/demo-options.ts'
import { parseArguments } from '../../src/commands/parse-arguments.ts'

async function parse(line: string) {
  const { flags } = await parseArguments(findCommand('demo')!, line === '' ? [] : line.split(' '))
  return toDemoOptions(flags)
}

describe('the flags of tickwarden demo', () => {
  it('are all optional', async () => {
    expect(await parse('')).toEqual({ ports: {} })
  })

  it('become the options of the demo server', async () => {
    const line =
      '--era 26.1 --software paper --scenario tps10 --players 300 --seed 7 --decimal-comma --listen ::1' +
      ' --status-port 1 --rcon-port 2 --query-port 3 --management-port 65535'
    expect(await parse(line)).toEqual({
      era: '26.1',
      software: 'paper',
      scenario: 'tps10',
      players: 300,
      seed: 7,
      decimalComma: true,
      host: '::1',
      ports: { status: 1, rcon: 2, query: 3, management: 65535 },
    })
  })

  it.each([
    ['--edition pocket', '--edition is "pocket"; expected java, bedrock'],
    ['--era 1.7', '--era is "1.7"; expected 1.12.2, '],
    ['--software bukkit', '--software is "bukkit"; expected vanilla, paper, forge, neoforge'],
    ['--scenario fast', '--scenario is "fast"; expected normal, '],
    ['--players -1', '--players is "-1"; expected 0 to 5000'],
    ['--players 5001', '--players is "5001"'],
    ['--seed 1.5', '--seed is "1.5"'],
    ['--rcon-port 65536', '--rcon-port is "65536"; expected 0 to 65535'],
  ])('refuses %s', async (line, message) => {
    await expect(parse(line)).rejects.toThrow(message)
  })
})
