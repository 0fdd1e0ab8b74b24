import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { GivenSources } from '../../../src/game/server-settings.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import type { SourceSet } from '../../../src/game/sources/source.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'

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

describe('the settings in a directory', () => {
  function folderWith(...properties: readonly string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-create-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const write = (...lines: readonly string[]) => writeFileSync(join(folder, 'server.properties'), lines.join('\n'))
    write(...properties)
    return { folder, write }
  }

  it('are reported with the property that is missing for each source, and again when they change', async () => {
    const { folder, write } = folderWith('server-port=25570', 'enable-rcon=true', 'rcon.password=')
    const reports: string[] = []
    set = createSources(
      { name: 'Server', sources: { directory: { path: folder }, query: { address: { host: 'q.test', port: 1 } } } },
      { ...context, onDiscovery: (text) => void reports.push(text) },
    )
    for (let poll = 0; poll < 3; poll++) await set.refresh?.()
    expect(reports).toEqual([
      'found in its directory: Status (127.0.0.1:25570); not found in its directory: RCON (enable-rcon=true but rcon.password is empty), Management protocol (management-server-enabled is not true)',
    ])
    write('server-port=25570', 'enable-rcon=true', 'rcon.password=Sekret9', 'management-server-enabled=true')
    await set.refresh?.()
    expect(reports.slice(1)).toEqual([
      'found in its directory: Status (127.0.0.1:25570), RCON (127.0.0.1:25575); not found in its directory: Management protocol (management-server-enabled=true but management-server-secret is empty)',
    ])
    write('server-port=25570', 'enable-rcon=TRUE', 'management-server-enabled=true', 'management-server-secret=s')
    await set.refresh?.()
    expect(reports[2]).toContain('RCON (enable-rcon is not true), Management protocol (')
    expect(reports[2]).toContain('(management-server-enabled=true but its port is not in logs/latest.log)')
    for (const [property, reason] of [
      ['host=fe80::1%eth0', 'a URL cannot contain its management-server-host'],
      ['port=x', 'management-server-port is not valid'],
    ]) {
      write('management-server-enabled=true', 'management-server-secret=s', `management-server-${property}`)
      await set.refresh?.()
      expect(reports.at(-1)).toContain(`(management-server-enabled=true but ${reason})`)
    }
  })

  it('that no source can be created with are logged once', async () => {
    const { folder } = folderWith('server-port=25570', 'enable-rcon=true', 'rcon.password=p')
    const errors: unknown[] = []
    set = createSources(
      { name: 'Server', sources: { directory: { path: folder } } },
      {
        ...context,
        log: { ...silentLog, error: (...line: readonly unknown[]) => void errors.push(line.at(-1)) },
        connectBackoff() {
          throw new Error('broken')
        },
      },
    )
    for (let poll = 0; poll < 3; poll++) await set.refresh?.()
    expect(errors).toEqual(['Server: cannot use the settings in its directory: broken'])
  })
})
