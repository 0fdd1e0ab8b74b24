import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FrameReader } from '../../src/game/protocol/status/frames.ts'
import { decodeStatus } from '../../src/game/protocol/status/status.ts'
import { parseStatusReply } from '../../src/game/protocol/status/status-reply.ts'
import { decodeUnconnectedPong } from '../../src/game/protocol/status/unconnected-ping.ts'
import { toBedrockFields } from '../../src/game/sources/status/bedrock-fields.ts'
import { pong } from '../../test/helpers/bedrock-server.ts'
import { code, table } from './table.ts'

/** An entry of the fixtures: a text, or bytes in base64. */
interface Form {
  readonly software: string
  /** The version name in the status of a Java server. */
  readonly status?: string
  /** The pong of a Bedrock server. */
  readonly pong?: string
  readonly statusBytes?: string
  readonly pongBytes?: string
}

const file = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'server-software.json')

interface Sent {
  /** The version name of a Java server, the pong of a Bedrock server. */
  readonly text: string
  /** The software as the service detects it. */
  readonly fields: object
}

/** Number of bytes before the text of a pong. */
const pongHead = 35

function readPong(bytes: Buffer): Sent {
  return { text: bytes.toString('utf8', pongHead), fields: toBedrockFields(decodeUnconnectedPong(bytes).status) }
}

function readStatus(json: string): Sent {
  const { version } = JSON.parse(json) as { readonly version: { readonly name: string } }
  return { text: version.name, fields: parseStatusReply(json) }
}

function decodeFrame(bytes: Buffer): string {
  const frames = new FrameReader()
  frames.push(bytes)
  const frame = frames.next()
  if (frame === undefined) throw new RangeError('the recorded status is not complete')
  return decodeStatus(frame)
}

function readForm({ status: name, statusBytes, pong: text, pongBytes }: Form): Sent | undefined {
  if (pongBytes !== undefined) return readPong(Buffer.from(pongBytes, 'base64'))
  if (text !== undefined) return readPong(pong(text))
  if (statusBytes !== undefined) return readStatus(decodeFrame(Buffer.from(statusBytes, 'base64')))
  return name === undefined ? undefined : readStatus(JSON.stringify({ version: { name, protocol: 774 } }))
}

const shown = (value: unknown): string => (typeof value === 'string' ? code(value) : String(value))

const naming = ['software', 'version', 'loader', 'loaderVersion', 'proxy', 'acceptedVersions']

/** The name that each server software sends, and the name that Tickwarden shows. */
export function serverSoftwareTable(): string {
  const forms: readonly Form[] = JSON.parse(readFileSync(file, 'utf8'))
  const rows = forms.flatMap((form) => {
    const sent = readForm(form)
    if (sent === undefined) return []
    const values = Object.entries(sent.fields).filter(([name]) => naming.includes(name))
    return [[form.software, code(sent.text), values.map(([name, value]) => `${name} ${shown(value)}`).join(', ')]]
  })
  return table(['software', 'version name or pong', 'read as'], ...rows)
}
