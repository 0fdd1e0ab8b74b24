import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Fields } from '../../src/game/fields.ts'
import { parsePaperTps } from '../../src/game/protocol/rcon/paper-tps.ts'
import { plainReply } from '../../src/game/protocol/rcon/reply.ts'
import { FrameReader } from '../../src/game/protocol/status/frames.ts'
import { decodeStatus } from '../../src/game/protocol/status/status.ts'
import { parseStatusReply } from '../../src/game/protocol/status/status-reply.ts'
import { decodeUnconnectedPong } from '../../src/game/protocol/status/unconnected-ping.ts'
import { toBedrockFields } from '../../src/game/sources/status/bedrock-fields.ts'
import { pong } from '../helpers/bedrock-server.ts'

interface Entry {
  readonly software: string
  /** Bytes that the software itself has sent, or texts written from its documentation or source. */
  readonly kind: 'recorded' | 'documented'
  readonly status?: string
  readonly pong?: string
  /** The reply to the RCON command `tps`. */
  readonly tps?: string
  /** In base64. */
  readonly statusBytes?: string
  readonly pongBytes?: string
  readonly read: object
  /** The server that it was recorded from, or the description of the form. */
  readonly origin: string
}

const root = join(import.meta.dirname, '../..')
const entries: readonly Entry[] = JSON.parse(readFileSync(join(root, 'test/fixtures/server-software.json'), 'utf8'))
const page = readFileSync(join(root, 'docs/server-software.md'), 'utf8')
/** The first table; the other one is generated from the same entries. */
const [byHand = ''] = page.split('<!-- generated')
const rows = byHand
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)

function fieldsOf({ status, pong: text, statusBytes, pongBytes }: Entry): Partial<Fields> {
  if (pongBytes !== undefined) return toBedrockFields(decodeUnconnectedPong(Buffer.from(pongBytes, 'base64')).status)
  if (text !== undefined) return toBedrockFields(decodeUnconnectedPong(pong(text)).status)
  if (statusBytes === undefined) return parseStatusReply(JSON.stringify({ version: { name: status, protocol: 774 } }))
  const frames = new FrameReader()
  frames.push(Buffer.from(statusBytes, 'base64'))
  return parseStatusReply(decodeStatus(frames.next()!))
}

it.each(entries)('$software ($kind) is read as documented', (entry) => {
  const { software, kind, read, origin } = entry
  const { tps } = entry
  const fields = { ...fieldsOf(entry), ...(tps !== undefined && { paperTickRates: parsePaperTps(plainReply(tps)) }) }
  expect(fields).toMatchObject(read)
  if (!('software' in read)) expect(fields).not.toHaveProperty('software')
  if (!('version' in read)) expect(fields).not.toHaveProperty('version')
  expect(origin).not.toBe('')
  const [row, ...others] = rows.filter((row) => row.startsWith(`| ${software} `))
  expect(others).toEqual([])
  // A recorded entry is no longer a form.
  if (kind === 'documented') expect(row).toContain('| form: ')
  else expect(row).toMatch(/\| (real|recorded): /)
  expect(kind === 'recorded').toBe(entry.statusBytes !== undefined || entry.pongBytes !== undefined)
})

it.each(rows)('the documentation refers to existing tests: %s', (row) => {
  const tests = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

it('the ticks of Folia, which differ by region, are unknown', () => {
  const reply =
    'Server Health Report\n - Online Players: 3\n - Total regions: 2\n - Lowest Region TPS: 19.97\n - Median Region TPS: 20.00'
  expect(parsePaperTps(reply)).toBeUndefined()
})
