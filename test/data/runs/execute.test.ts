import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { startRun } from '../../../src/data/runs/execute.ts'
import { kcomebacks } from '../../../src/data/scripts/kcomebacks/index.ts'
import { noProgress, type Script, scriptSettings } from '../../../src/data/scripts/script.ts'
import { createUpstream } from '../../../src/data/scripts/upstream.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { until } from '../../helpers/until.ts'

it('closes the connections of a script when it has ended', async () => {
  const sockets = new Set<Socket>()
  const headers = { 'content-type': 'application/json', 'keep-alive': 'timeout=600' }
  const server = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => response.writeHead(200, headers).end('{}'))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const dataDir = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    rmSync(dataDir, { recursive: true })
  })
  let open = 0
  const script: Script = {
    ...kcomebacks,
    async run({ signal, clock }) {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      await createUpstream({ signal, clock }, { name: 'Upstream', baseUrl }).request({ path: '/' })
      open = sockets.size
      return { outcome: 'done', errors: [] }
    },
  }
  const run = await startRun({
    ...{ script, values: scriptSettings(loadConfig({ env: {} })), dataDir, clock: systemClock, log: silentLog },
    ...{ trigger: 'command', signal: new AbortController().signal, full: false, dryRun: false, force: false },
    progress: noProgress,
  })
  if (typeof run === 'string') expect.fail(run)
  expect((await run.ended).outcome).toBe('done')
  expect(open).toBe(1)
  await until(() => sockets.size === 0)
})
