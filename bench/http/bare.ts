import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { report } from './child.ts'

/** A bare server that answers anything with the headers and body its parent sends; tells where it listens. */
const [{ headers, body }] = (await once(process, 'message')) as [{ headers: Record<string, string>; body: string }]
const bytes = Buffer.from(body)
const server = createServer((_, response) => {
  response.writeHead(200, headers)
  response.end(bytes)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
report(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
