import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createHttpApp } from '../../src/http/app.ts'
import { until } from '../helpers/until.ts'

/** A client that sends many requests at once, and a route that counts them. */
async function start() {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
  onTestFinished(() => app.close())
  let count = 0
  app.get('/count', () => String(++count))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  return {
    url,
    socket,
    count: () => count,
    send: (requests: number) => socket.write('GET /count HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(requests)),
    replies: () => received.match(/(?<=\r\n\r\n)\d+/g) ?? [],
  }
}

it('answers pipelined requests in order, however many there are in all', async () => {
  const { send, replies, socket } = await start()
  for (let total = 90; total <= 360; total += 90) {
    send(90)
    await until(() => replies().length === total)
  }
  expect(replies()).toEqual(Array.from({ length: 360 }, (_, index) => String(index + 1)))
  socket.destroy()
})

it('closes a connection with too many waiting requests, and answers other clients', async () => {
  const { url, send, count, socket } = await start()
  socket.pause()
  const closed = once(socket, 'close')
  send(5000)
  socket.resume()
  await closed
  expect(count()).toBeLessThanOrEqual(101)
  expect((await fetch(`${url}/count`)).status).toBe(200)
})
