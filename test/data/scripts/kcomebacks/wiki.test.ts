import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { openWiki } from '../../../../src/data/scripts/kcomebacks/wiki.ts'
import { noProgress, scriptSettings } from '../../../../src/data/scripts/script.ts'
import type { UpstreamError } from '../../../../src/data/scripts/upstream-error.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'

const past = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1600000000' }
const later = { 'x-ratelimit-remaining': '0.0', 'x-ratelimit-reset': '3600' }

it.each([
  ['without credentials, its reset in the past', {}, past],
  ['without credentials', {}, later],
  ['with credentials, its reset in the past', { REDDIT_CLIENT_ID: 'id', REDDIT_CLIENT_SECRET: 'secret' }, past],
  ['with credentials', { REDDIT_CLIENT_ID: 'id', REDDIT_CLIENT_SECRET: 'secret' }, later],
])('treats a 403 of Reddit as a rate limit, %s', async (_what, credentials, headers) => {
  const server = createServer((_request, response) =>
    response.writeHead(403, { 'content-type': 'application/json', ...headers }).end('{}'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = loadConfig({ env: { REDDIT_AUTH_URL: url, REDDIT_API_URL: url, ...credentials } })
  const wiki = openWiki({
    values: scriptSettings(config),
    signal: new AbortController().signal,
    log: silentLog,
    // The minute that a limit lasts is over at once.
    clock: { ...systemClock, after: (delay, action) => systemClock.after(delay > 30_000 ? 1 : delay, action) },
    progress: noProgress,
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const error = await wiki.read('upcoming-releases/archive').then(
    () => expect.fail('it did not fail'),
    (error: UpstreamError) => error,
  )
  expect(error).toMatchObject({ kind: 'rate_limited', status: 403, retryAt: expect.any(Number) })
  expect(error.message).toContain('the rate limit is exceeded')
  expect(error.message).not.toContain('CLIENT_ID')
})
