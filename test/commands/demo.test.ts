import util from 'minecraft-server-util'
import { describe, expect, it } from 'vitest'
import { runDemo } from '../../src/commands/demo.ts'
import type { DemoCommandOptions } from '../../src/commands/demo-options.ts'
import { toDemoOptions } from '../../src/commands/demo-options.ts'
import { UsageError } from '../../src/util/usage-error.ts'

/** Runs the command, passes its output to the check while the server runs, and stops it. */
async function during(options: DemoCommandOptions, check: (text: string) => Promise<void> | void): Promise<void> {
  const stop = new AbortController()
  let print = (_text: string) => {}
  const printed = new Promise<string>((resolve) => {
    print = resolve
  })
  const ended = runDemo(options, stop.signal, print)
  try {
    await check(await Promise.race([printed, ended.then(() => '')]))
  } finally {
    stop.abort()
    await ended
  }
}

describe('tickwarden demo', () => {
  it('prints all addresses, and runs until it is stopped', async () => {
    let port = 0
    await during({ era: '1.21.11', rconPassword: 'swordfish', managementSecret: 'tell-nobody' }, async (text) => {
      port = Number(/status {6}127\.0\.0\.1:(\d+)/.exec(text)?.[1])
      expect((await util.status('127.0.0.1', port, { enableSRV: false })).version.name).toBe('1.21.11')
      expect(text).toContain('MC_RCON_PASSWORD=swordfish')
      expect(text).toContain('MC_MANAGEMENT_SECRET=tell-nobody')
      expect(text).toMatch(/MC_QUERY=127\.0\.0\.1:\d+/)
    })
    await expect(util.status('127.0.0.1', port, { enableSRV: false, timeout: 1000 })).rejects.toThrow()
  })

  it('lists the protocols that an old release does not have', async () => {
    await during({ era: '1.12.2', scenario: 'lagging' }, (text) => {
      expect(text).toContain('  management  not in 1.12.2\n')
      expect(text).not.toContain('MC_MANAGEMENT')
      expect(text).toContain('about 12.5 ticks per second')
    })
  })

  it('runs a Bedrock server that both transports reach', async () => {
    await during({ edition: 'bedrock', players: 3 }, async (text) => {
      const port = Number(/MC_SERVER=bedrock:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1])
      expect((await util.statusBedrock('127.0.0.1', port, { enableSRV: false })).players.online).toBe(3)
      const reply = await fetch(`http://127.0.0.1:${port}/v1/join`)
      expect(await reply.json()).toMatchObject({ players: 3, gameType: 0 })
    })
    expect(() => toDemoOptions({ edition: 'bedrock', era: '1.21.11' })).toThrow(
      new UsageError('--era applies to the Java edition only'),
    )
  })

  it('generates new passwords at each start', async () => {
    const seen = new Set<string>()
    for (let time = 0; time < 2; time++) await during({}, (text) => void seen.add(/password (\S+)/.exec(text)?.[1] ?? ''))
    expect(seen.size).toBe(2)
  })

  it('refuses an unknown era, and lists the valid ones', async () => {
    const never = new AbortController().signal
    await expect(runDemo({ era: '2.0' }, never, () => {})).rejects.toThrow('there is no era "2.0"; expected one of 1.12.2, ')
  })
})
