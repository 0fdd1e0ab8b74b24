import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startCountedServers } from '../helpers/counted-servers.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const dist = join(import.meta.dirname, '../../dist/src')

/** Answers by one connection that stays open, because a new one needs a descriptor. */
function keepConnection(url: string) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  return (path: string) =>
    new Promise<string>((resolve, reject) => {
      const request = http.get(url + path, { agent }, async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        resolve(text)
      })
      request.on('error', reject)
    })
}

describe.skipIf(!hasTool('prlimit'))('without free file descriptors', () => {
  it('the state of servers becomes unknown, not down, and everything continues when some are free again', async () => {
    const [servers, receiver] = await Promise.all([startCountedServers(6), startReceiver()])
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-descriptors-'))
    const list = join(folder, 'servers.json')
    const write = (listed: readonly number[]) =>
      writeFileSync(
        list,
        JSON.stringify(listed.map((index) => ({ targets: [servers.addresses[index]], labels: { name: `s${index}` } }))),
      )
    write([1, 2, 3, 4])
    const hook = `{ type: webhook, name: hook, url: "${receiver.url}", events: [down, up], after: 1 }`
    const config = `notify: { allowPrivate: true, restartGrace: 0s, channels: [${hook}] }\n`
    const service = await startService('service', config, {
      ...{ DISCOVERY_FILE_SD: list, DATA_DIR: folder, HISTORY_DIR: folder },
      ...{ POLL_INTERVAL: '500ms', POLL_TIMEOUT: '3s', STALE_AFTER: '4s' },
    })
    const get = keepConnection(service.url)
    const states = async () =>
      [...(await get('/metrics')).matchAll(/^minecraft_up\{server="(\w+)"\} (\d)$/gm)]
        .map(([, name, up]) => `${name} ${up}`)
        .toSorted()
    const told = () => receiver.accepted.map(({ json }) => `${json.server} ${json.event}`).toSorted()
    await until(async () => (await states()).length === 4)
    servers.down.add(1)
    await until(() => told().length === 1)
    const before = await states()
    expect(before).toEqual(['s1 0', 's2 1', 's3 1', 's4 1'])

    const limit = (files: number) => execFileSync('prlimit', [`--pid=${service.child.pid}`, `--nofile=${files}:`])
    limit(20)
    write([1, 2, 3, 4, 5])
    await until(async () => {
      const now = await states()
      for (const state of now) expect(before).toContain(state)
      return now.length === 0
    })
    expect(await get('/metrics')).toMatch(/^minecraft_polls_total\{server="s2",outcome="exhausted"\} \d/m)
    expect(await get('/healthz')).toContain('ok')
    expect(service.output()).toMatch(/too many open files; raise the limit/)

    servers.down.delete(1)
    servers.down.add(2)
    limit(1_000)
    const after = ['s1 1', 's2 0', 's3 1', 's4 1', 's5 1']
    await until(async () => (await states()).join() === after.join())
    // Nothing was told of the time in between.
    await until(() => told().length === 3)
    expect(told()).toEqual(['s1 down', 's1 up', 's2 down'])
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    expect(service.output()).not.toMatch(/unhandled|TypeError/i)
  })

  it('a file is not written, and later it is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-descriptors-'))
    const script = `
      import { closeSync, openSync } from 'node:fs'
      import { withLock } from '${dist}/util/file-lock.js'
      import { writeAtomic } from '${dist}/util/files.js'
      const write = (text) => withLock('${folder}/lock', () => writeAtomic('${folder}/file', text))
      const held = []
      try {
        for (;;) held.push(openSync('/dev/null'))
      } catch {}
      await write('first').catch(({ message }) => console.log(message))
      for (const file of held) closeSync(file)
      await write('second')`
    const output = execFileSync('sh', ['-c', 'ulimit -n 100; exec "$0" --input-type=module', process.execPath], { input: script })
    expect(String(output)).toMatch(/EMFILE/)
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('second')
  })
})
