import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fakeGithub } from '../data/scripts/projects/fake-github.ts'
import { startCountedServers } from '../helpers/counted-servers.ts'
import { hostile, hostileServer } from '../helpers/hostile-servers.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { startService } from '../helpers/replica-process.ts'
import { until } from '../helpers/until.ts'

it('SIGTERM during polls, scrapes, streams, a script and a notification ends the service with exit code 0', async () => {
  const names = ['sends nothing', 'sends its answer in single bytes without end', 'claims 2 GB and streams without end']
  const [servers, misbehaving, receiver, github] = await Promise.all([
    startCountedServers(20),
    Promise.all(names.map((name) => hostileServer(hostile[name]!.behave))),
    // Never answers.
    startReceiver(() => {}),
    fakeGithub(),
  ])
  onTestFinished(async () => {
    await Promise.all([github.close(), ...misbehaving.map((server) => server[Symbol.asyncDispose]())])
  })
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-sigterm-'))
  writeFileSync(join(folder, 'projects.config.json'), JSON.stringify([{ title: 'A', gh_api: 'someone/a' }]))
  let isScriptWaiting = false
  github.replies.set('/repos/someone/a', () => {
    isScriptWaiting = true
  })
  const addresses = [...servers.addresses, ...misbehaving.map(({ port }) => `127.0.0.1:${port}`)]
  const list = addresses.map((address, index) => `  - { name: s${index}, address: "${address}" }\n`)
  const hook = `{ type: webhook, name: hook, url: "${receiver.url}", events: [down], after: 1 }`
  const config = `servers:\n${list.join('')}notify: { allowPrivate: true, restartGrace: 0s, channels: [${hook}] }\n`
  const service = await startService('service', config, {
    ...{ POLL_INTERVAL: '1s', POLL_TIMEOUT: '30s', STALE_AFTER: '60s', DATA_DIR: folder, HISTORY_DIR: folder },
    ...{ GITHUB_API_URL: github.url, UPDATE_SCHEDULE: 'off' },
  })
  await until(async () => /^minecraft_up\{server="s0"\} 1$/m.test(await (await service.get('/metrics')).text()))
  servers.down.add(0)
  expect((await service.get('/v1/run/projects')).status).toBe(200)
  const { port } = new URL(service.url)
  // Streams: one is read, and one is not.
  const streams = [0, 1].map((index) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n'))
    socket.on('error', () => {})
    if (index === 0) socket.resume()
    return socket
  })
  // Scrapes, all the time; one of them never reads its reply.
  const scrapes = connect(Number(port), '127.0.0.1', () => scrapes.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500)))
  scrapes.on('error', () => {})
  let isOver = false
  const scraping = (async () => {
    while (!isOver)
      await service.get('/metrics').then(
        (response) => response.text(),
        () => undefined,
      )
  })()
  await until(
    () =>
      isScriptWaiting &&
      receiver.requests.length > 0 &&
      misbehaving.slice(0, 2).every((server) => server.open() > 0) &&
      streams[0]!.bytesRead > 0,
  )

  service.child.kill('SIGTERM')
  // 1 if it was not done within its five seconds.
  expect(await service.exit).toBe(0)
  isOver = true
  await scraping
  for (const socket of [...streams, scrapes]) socket.destroy()
  expect(service.output()).not.toMatch(/unhandled|Error:/i)
  const { runs } = JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8'))
  expect(runs).toMatchObject([{ script: 'projects', outcome: 'failed', errors: ['stopped'] }])
})
