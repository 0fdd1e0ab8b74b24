import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createHttpApp } from '../../src/http/app.ts'

it('closes within seconds, whatever the clients do', async () => {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
  let asking = false
  let answer = () => {}
  app.get('/slow', { schema: { hide: true } as never }, (_request, reply) => {
    asking = true
    answer = () => reply.send('done')
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const silent = connect(port, '127.0.0.1')
  const halfway = connect(port, '127.0.0.1', () => halfway.write('GET / HTTP/1.1\r\nhost: x\r\n'))
  const waiting = fetch(`http://127.0.0.1:${port}/slow`)
  await Promise.all([once(silent, 'connect'), once(halfway, 'connect')])
  await expect.poll(() => asking).toBe(true)
  for (const socket of [silent, halfway]) socket.on('error', () => {})
  const ended = [silent, halfway].map((socket) => once(socket, 'close'))
  const asked = performance.now()
  const closed = app.close()
  answer()
  expect(await (await waiting).text()).toBe('done')
  await closed
  await Promise.all(ended)
  expect(performance.now() - asked).toBeLessThan(15_000)
})
