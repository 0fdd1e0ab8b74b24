import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { parseServerFile, readServerValues } from '../../src/config/parse-servers.ts'
import { createDiscovery } from '../../src/discovery/discovery.ts'
import type { Provider, ProviderContext } from '../../src/discovery/provider.ts'
import { fileSd } from '../../src/discovery/providers/file-sd.ts'
import { httpSd } from '../../src/discovery/providers/http-sd.ts'
import { systemClock } from '../../src/util/clock.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { onTestFinished, separateTestEnds } from '../helpers/test-end.ts'

const groups = (name: string) => JSON.stringify([{ targets: ['127.0.0.1:1'], labels: { name } }])
const httpSettings = { discoveryHttpSdInterval: 1_000, discoveryHttpSdToken: undefined }

interface List {
  readonly settings: Readonly<Record<string, unknown>>
  write(name: string): void
  start(context: ProviderContext): Provider
}

const lists: Readonly<Record<string, () => Promise<List>>> = {
  async file_sd() {
    const file = join(temporaryFolder(), 'targets.json')
    const settings = { discoveryFileSd: [file] }
    return { settings, write: (name) => writeFileSync(file, groups(name)), start: (context) => fileSd.start(settings, context) }
  },
  async http_sd() {
    let body = ''
    const server = createServer((_, response) => void response.setHeader('content-type', 'application/json').end(body))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const urls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}/`]
    const settings = { discoveryHttpSd: urls, ...httpSettings }
    const write = (name: string) => {
      body = groups(name)
    }
    return { settings, write, start: (context) => httpSd.start(settings, context) }
  },
}

// Concurrent, because these tests mostly wait.
separateTestEnds()
describe.concurrent.each(Object.keys(lists))('a list of %s', (name) => {
  const open = lists[name]!

  it('is still read after a listener has thrown, which is logged', async ({ expect }) => {
    const { settings, write } = await open()
    write('a')
    const log = collectLog()
    const discovery = createDiscovery({
      settings,
      parseServers: parseServerFile,
      readServer: readServerValues,
      readConfig: () => [],
      clock: systemClock,
      log,
    })
    onTestFinished(() => discovery.close())
    let shown = ''
    discovery.onChange(() => {
      throw new Error('broken')
    })
    discovery.onChange(() => {
      shown = discovery
        .servers()
        .map((server) => server.name)
        .join()
    })
    await discovery.firstRead
    for (const next of ['b', 'c', 'd']) {
      write(next)
      await expect.poll(() => shown).toBe(next)
      await discovery.reload()
    }
    expect(log.lines).toContain('error: The change of the watched servers could not be applied completely')
  })

  it('is still read after changed() has thrown', async ({ expect }) => {
    const { write, start } = await open()
    write('a')
    const provider = start({
      clock: systemClock,
      measure: (_place, read) => read(),
      changed() {
        throw new Error('broken')
      },
      readConfig: () => [],
      parseServers: () => [],
      readServer: (values) => ({ name: values.get('name') ?? '', sources: {} }),
    })
    onTestFinished(() => provider.close())
    const names = () =>
      provider
        .lists()
        .flatMap(({ servers }) => servers.map((server) => server.name))
        .join()
    await provider.firstRead
    for (const next of ['b', 'c', 'd']) {
      write(next)
      await expect.poll(names).toBe(next)
      await provider.reload()
    }
  })
})
