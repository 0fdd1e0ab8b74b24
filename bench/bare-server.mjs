import { createServer } from 'node:http'

/**
 * A bare server that answers every request with the headers and body that its parent process sends. It sends the parent its port
 * and exits with it.
 */
process.once('message', ({ headers, body }) => {
  const bytes = Buffer.from(body)
  const server = createServer((_, response) => {
    response.writeHead(200, headers)
    response.end(bytes)
  }).listen(0, '127.0.0.1', () => process.send(server.address().port))
})
process.once('disconnect', () => process.exit())
