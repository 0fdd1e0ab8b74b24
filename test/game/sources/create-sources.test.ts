import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import type { GivenSources } from '../../../src/game/server.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import type { SourceSet } from '../../../src/game/sources/source.ts'
import { silentLog } from '../../../src/log.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
const address = { edition: 'java', host: 'mc.test', port: 25570 } as const

let set: SourceSet | undefined
afterEach(() => set?.close())

function targets(sources: GivenSources): unknown {
  set = createSources({ name: 'Server', sources }, context)
  return set.list().map(({ name, target }) => `${name} ${target}`)
}

it('creates the sources that have all required settings, in the order of the list', () => {
  expect(targets({})).toEqual([])
  expect(
    targets({
      query: { address: { host: 'q.test', port: 1 } },
      management: { url: 'ws://m.test:2/', secret: 's' },
      rcon: { address: { host: 'r.test', port: 3 }, password: 'p' },
      status: { address },
    }),
  ).toEqual(['status mc.test:25570', 'rcon r.test:3', 'management ws://m.test:2', 'query q.test:1'])
})

it('omits a source whose required settings are missing', () => {
  expect(targets({ status: { address }, rcon: { address }, management: { url: 'ws://m.test:2/' } })).toEqual([
    'status mc.test:25570',
  ])
})

it('uses the address of the server for RCON if only its password is set', () => {
  expect(targets({ status: { address }, rcon: { password: 'p' } })).toEqual(['status mc.test:25570', 'rcon mc.test:25575'])
  expect(targets({ rcon: { password: 'p' } })).toEqual([])
})

it('has nothing to refresh without a directory', () => {
  expect(targets({ status: { address } })).toEqual(['status mc.test:25570'])
  expect(set?.refresh).toBeUndefined()
})

it('finds the management port that the system has chosen in the log, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-create-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const log = (port: number) =>
    writeFileSync(
      join(folder, 'logs/latest.log'),
      `[12:00:00] [Server thread/INFO]: Json-RPC Management connection listening on localhost:${port}\n`,
    )
  const properties = ['server-port=25570', 'management-server-enabled=true', 'management-server-port=0']
  properties.push(`management-server-secret=${'a'.repeat(40)}`, 'management-server-tls-enabled=false')
  writeFileSync(join(folder, 'server.properties'), properties.join('\n'))
  mkdirSync(join(folder, 'logs'))
  set = createSources({ name: 'Server', sources: { directory: { path: folder } } }, context)
  const management = async () => {
    await set?.refresh?.()
    return set?.list().find(({ name }) => name === 'management')?.target
  }
  expect(await management()).toBeUndefined()
  log(40_001)
  expect(await management()).toBe('ws://127.0.0.1:40001')
  rmSync(join(folder, 'logs/latest.log'))
  log(40_002)
  expect(await management()).toBe('ws://127.0.0.1:40002')
})
