import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parsePaperTps } from '../../src/game/protocol/paper-tps.ts'
import { parseStatusReply } from '../../src/game/protocol/status-reply.ts'
import { decodeUnconnectedPong } from '../../src/game/protocol/unconnected-ping.ts'
import { toBedrockFields } from '../../src/game/sources/status/bedrock-fields.ts'
import { pong } from '../helpers/bedrock-server.ts'

interface Entry {
  readonly software: string
  readonly status?: string
  readonly pong?: string
  readonly read: object
  readonly origin: string
}

const root = join(import.meta.dirname, '../..')
const entries: readonly Entry[] = JSON.parse(readFileSync(join(root, 'test/fixtures/server-software.json'), 'utf8'))
const page = readFileSync(join(root, 'docs/server-software.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)

it.each(entries)('$software is read as the page says', ({ software, status, pong: text, read, origin }) => {
  const fields =
    text === undefined
      ? parseStatusReply(JSON.stringify({ version: { name: status, protocol: 774 } }))
      : toBedrockFields(decodeUnconnectedPong(pong(text)).status)
  expect(fields).toMatchObject(read)
  if (!('software' in read)) expect(fields).not.toHaveProperty('software')
  if (!('version' in read) && status !== undefined) expect(fields).not.toHaveProperty('version')
  expect(origin).not.toBe('')
  expect(rows.filter((row) => row.startsWith(`| ${software} `))).toHaveLength(1)
})

it.each(rows)('the page names tests that exist: %s', (row) => {
  const tests = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

it('the ticks of Folia, which differ by region, are unknown', () => {
  const reply =
    'Server Health Report\n - Online Players: 3\n - Total regions: 2\n - Lowest Region TPS: 19.97\n - Median Region TPS: 20.00'
  expect(parsePaperTps(reply)).toBeUndefined()
})
