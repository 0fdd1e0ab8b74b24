import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startDemoServer } from '../src/demo/demo-server.ts'
import { formatHostPort } from '../src/util/address.ts'
import { startService } from './helpers/replica-process.ts'
import { until } from './helpers/until.ts'

/** Packages of parts that one watched server does not need. */
const unneeded = [
  ...['nodemailer', '@opentelemetry/api', '@opentelemetry/sdk-metrics', '@opentelemetry/otlp-transformer', 'ioredis', 'sharp'],
  ...['opentype.js', 'undici', 'ws', '@fastify/swagger-ui', 'ajv', '@clack/prompts', 'minecraft-server-util', 'snudown-js'],
]

it('a service with one server loads only the packages that it needs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-loaded-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'imports')
  const demo = await startDemoServer()
  onTestFinished(() => demo.close())
  const hook = new URL('helpers/report-imports.mjs', import.meta.url).href
  const service = await startService('Server', undefined, {
    ...{ MC_SERVER: formatHostPort(demo.address), NODE_OPTIONS: `--import=${hook}`, IMPORTS_FILE: file },
  })
  await until(async () => (await (await service.get('/metrics')).text()).includes('minecraft_up{server="Server"} 1'))
  expect((await service.get('/')).status).toBe(200)
  const loaded = readFileSync(file, 'utf8').trim().split('\n')
  expect(loaded).toContain('fastify')
  expect(loaded.filter((name) => unneeded.includes(name))).toEqual([])
})
