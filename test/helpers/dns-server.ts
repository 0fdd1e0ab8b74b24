import dgram from 'node:dgram'
import { once } from 'node:events'

/** Record types by number (RFC 1035, 3596, 2782). */
const types = { 1: 'A', 28: 'AAAA', 33: 'SRV' } as const
export type RecordType = (typeof types)[keyof typeof types]

export interface DnsRecord {
  readonly ttl: number
  /** An IPv4 address; 16 bytes; or an SRV record of priority and weight 0. */
  readonly data: string | Buffer | { readonly port: number; readonly target: string }
}

/** `[]`: the name has no record of that type; `NXDOMAIN`: the name does not exist; undefined: no answer. */
export type DnsAnswer = readonly DnsRecord[] | 'NXDOMAIN' | 'SERVFAIL' | undefined

const codes = { SERVFAIL: 2, NXDOMAIN: 3 }

const u16 = (...values: readonly number[]) => Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]))

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function encodeData(data: DnsRecord['data']): Buffer {
  if (Buffer.isBuffer(data)) return data
  if (typeof data === 'string') return Buffer.from(data.split('.').map(Number))
  return Buffer.concat([u16(0, 0, data.port), encodeName(data.target)])
}

/** A DNS server on loopback, with one question per query. `delayMs` before each answer. */
export async function dnsServer(answer: (name: string, type: RecordType) => DnsAnswer, delayMs = 0) {
  const queries: string[] = []
  const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 4_194_304 })
  socket.on('message', (query, from) => {
    let end = 12
    const labels: string[] = []
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length))
      end += 1 + length
    }
    const typeNumber = query.readUInt16BE(end + 1)
    const type = types[typeNumber as keyof typeof types]
    const name = labels.join('.').toLowerCase()
    queries.push(`${type} ${name}`)
    const found = answer(name, type)
    if (found === undefined) return
    const records = typeof found === 'string' ? [] : found
    const reply = Buffer.concat([
      query.subarray(0, 2),
      u16(0x8180 | (typeof found === 'string' ? codes[found] : 0), 1, records.length, 0, 0),
      query.subarray(12, end + 5),
      ...records.flatMap(({ ttl, data }) => {
        const bytes = encodeData(data)
        return [u16(0xc00c, typeNumber, 1, ttl >>> 16, ttl & 0xffff, bytes.length), bytes]
      }),
    ])
    setTimeout(() => socket.send(reply, from.port, from.address), delayMs)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}
