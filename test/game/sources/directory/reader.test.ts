import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSources } from '../../../../src/game/sources/create-sources.ts'
import { createDirectoryReader } from '../../../../src/game/sources/directory/reader.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { never } from '../../../helpers/never.ts'
import { hasTool } from '../../../helpers/require-tool.ts'
import { until } from '../../../helpers/until.ts'

// The real functions, counted.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  return { ...real, open: vi.fn(real.open), realpath: vi.fn(real.realpath), readdir: vi.fn(real.readdir) }
})
const opened = (name: string) => vi.mocked(open).mock.calls.filter(([path]) => String(path).endsWith(`/${name}`)).length

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-reader-'))
  vi.mocked(open).mockClear()
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const write = (path: string, text: string | Buffer) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
/** Makes all files appear to have been written long ago. */
const later = () => {
  const now = Date.now() + 60_000
  vi.spyOn(Date, 'now').mockImplementation(() => now)
}
function started() {
  const reader = createDirectoryReader(folder)
  onTestFinished(() => reader.close())
  return reader
}

describe('a file', () => {
  it('is read again only when it has changed', async () => {
    write('server.properties', 'motd=a')
    write('server-icon.png', 'icon')
    write('version_history.json', '{"currentVersion":"git-Paper-196 (MC: 1.20.1)"}')
    later()
    const reader = started()
    const first = await reader.read()
    for (let poll = 0; poll < 5; poll++) expect(await reader.read()).toEqual(first)
    expect(['server.properties', 'server-icon.png', 'version_history.json'].map(opened)).toEqual([1, 1, 1])
    write('server.properties', 'motd=b')
    const second = await reader.read()
    expect(second.properties?.fields.motd).toBe('b')
    expect(second.icon).toBe(first.icon)
    expect(['server.properties', 'server-icon.png', 'version_history.json'].map(opened)).toEqual([2, 1, 1])
  })

  it('that was written just now is read again, because it may be written again at the same time', async () => {
    write('server.properties', 'motd=a')
    const { mtimeMs } = statSync(join(folder, 'server.properties'))
    vi.spyOn(Date, 'now').mockReturnValue(mtimeMs)
    const reader = started()
    const first = await reader.read()
    const second = await reader.read()
    expect(opened('server.properties')).toBe(2)
    expect(second.properties).toBe(first.properties)
  })

  it('stays the same object as long as its content is the same', async () => {
    write('server-icon.png', 'icon')
    const reader = started()
    const { icon } = await reader.read()
    expect((await reader.read()).icon).toBe(icon)
    rmSync(join(folder, 'server-icon.png'))
    expect((await reader.read()).icon).toBeUndefined()
    write('server-icon.png', 'icon')
    expect((await reader.read()).icon).toBe(icon)
    write('server-icon.png', 'other')
    expect((await reader.read()).icon).toEqual(Buffer.from('other'))
  })

  it('that is removed or not readable is not cached', async () => {
    write('server.properties', 'motd=a')
    write('server-icon.png', 'icon')
    later()
    const reader = started()
    await reader.read()
    rmSync(join(folder, 'server.properties'))
    write('server-icon.png', Buffer.alloc(2 * 1024 * 1024))
    const { properties, icon, failures } = await reader.read()
    expect([properties, icon]).toEqual([undefined, undefined])
    expect(failures).toMatchObject([{ path: 'server-icon.png', error: { code: 'too_large' } }])
  })
})

it('shows a loader as soon as it is updated', async () => {
  write('libraries/net/fabricmc/fabric-loader/0.16.9/x.jar', '')
  later()
  const reader = started()
  expect((await reader.read()).loader).toEqual({ loader: 'Fabric', version: '0.16.9' })
  write('libraries/net/fabricmc/fabric-loader/0.16.10/x.jar', '')
  expect((await reader.read()).loader).toEqual({ loader: 'Fabric', version: '0.16.10' })
})

it('does not list a folder of more than 1,000 files', async () => {
  for (let index = 0; index <= 1_000; index++) write(`libraries/net/neoforged/neoforge/21.1.${index}`, '')
  const { loader, failures } = await started().read()
  expect(loader).toBeUndefined()
  expect(failures).toMatchObject([{ path: 'the loader', error: { code: 'too_large' } }])
})

it('opens no file after it was closed', async () => {
  write('server.properties', 'management-server-port=0')
  write('logs/latest.log', 'a line\n')
  const reader = createDirectoryReader(folder)
  const files = await reader.files()
  await reader.read()
  reader.close()
  vi.mocked(open).mockClear()
  for (const late of [reader.read(), reader.files(), files?.managementPort(), files?.read('server.properties')])
    await expect(late).rejects.toMatchObject({ code: 'aborted' })
  expect(vi.mocked(open)).not.toHaveBeenCalled()
})

describe('the sources of a server', () => {
  const setOf = () => {
    const context = { clock: manualClock(), log: silentLog, random: () => 0, push() {} }
    const set = createSources({ name: 'Server', sources: { directory: { path: folder } } }, context)
    onTestFinished(() => set.close())
    const source = (name: string) => set.list().find((source) => source.name === name)
    return { set, source }
  }

  it.skipIf(!hasTool('openssl'))('complete their settings from the directory source', async () => {
    const certificate = selfSigned()
    onTestFinished(() => rmSync(certificate.folder, { recursive: true }))
    write('keystore.p12', execFileSync('cat', [certificate.keystore]))
    write(
      'server.properties',
      `motd=Hi\nenable-query=true\nmanagement-server-enabled=true\nmanagement-server-port=25590\nmanagement-server-secret=s\nmanagement-server-tls-keystore=keystore.p12\nmanagement-server-tls-keystore-password=${certificate.keystorePassword}\n`,
    )
    later()
    const { set, source } = setOf()
    for (let poll = 0; poll < 3; poll++) {
      await set.refresh?.()
      expect((await source('directory')!.poll(never())).fields).toMatchObject({ motd: 'Hi' })
    }
    expect(
      set
        .list()
        .map(({ target }) => target)
        .slice(0, 3),
    ).toEqual(['127.0.0.1:25565', 'wss://127.0.0.1:25590', '127.0.0.1:25565'])
    expect(['server.properties', 'keystore.p12'].map(opened)).toEqual([1, 1])
  })

  it('access a hanging disk only once, however many polls follow', async () => {
    write('server.properties', 'motd=Hi')
    const { set, source } = setOf()
    const real = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises')
    let recover = () => {}
    const recovered = new Promise<void>((resolve) => {
      recover = resolve
    })
    onTestFinished(() => void vi.mocked(realpath).mockReset())
    vi.mocked(realpath).mockClear()
    vi.mocked(realpath).mockImplementation((async (path: string) => {
      await recovered
      return real.realpath(path)
    }) as typeof realpath)
    const refreshed = set.refresh?.()
    const stop = new AbortController()
    const polls = [1, 2, 3].map(() => source('directory')!.poll(stop.signal))
    for (let poll = 0; poll < 3; poll++) await set.refresh?.()
    await until(() => vi.mocked(realpath).mock.calls.length > 0)
    expect(vi.mocked(realpath)).toHaveBeenCalledTimes(1)
    const reason = new Error('late')
    stop.abort(reason)
    expect((await Promise.allSettled(polls)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    recover()
    await refreshed
    expect((await source('directory')!.poll(never())).fields.motd).toBe('Hi')
  })
})
