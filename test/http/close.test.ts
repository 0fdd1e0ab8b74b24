import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createHttpApp } from '../../src/http/app.ts'

// Node.js itself closes such connections after a minute.
it('closes within seconds, whatever the clients do', { timeout: 50_000 }, async () => {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
  let isRequested = false
  let answer = () => {}
  app.get('/slow', { schema: { hide: true } as never }, (_request, reply) => {
    isRequested = true
    answer = () => reply.send('done')
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const silent = connect(port, '127.0.0.1')
  const halfway = connect(port, '127.0.0.1', () => halfway.write('GET / HTTP/1.1\r\nhost: x\r\n'))
  const waiting = fetch(`http://127.0.0.1:${port}/slow`)
  await Promise.all([once(silent, 'connect'), once(halfway, 'connect')])
  await expect.poll(() => isRequested).toBe(true)
  for (const socket of [silent, halfway]) socket.on('error', () => {})
  const ended = [silent, halfway].map((socket) => once(socket, 'close'))
  const closed = app.close()
  answer()
  expect(await (await waiting).text()).toBe('done')
  await closed
  await Promise.all(ended)
})
