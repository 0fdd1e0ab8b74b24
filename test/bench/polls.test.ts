import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { GameServers } from '../../bench/soak/game-servers.ts'
import { PollCheck } from '../../bench/soak/polls.ts'
import type { Replica } from '../../bench/soak/services.ts'

/** What the server has counted, and the counter in the metrics of the replica. */
const server = { begun: 0, inARow: 0 }
let metrics = 0
let listener: Server
let check: PollCheck

beforeEach(async () => {
  Object.assign(server, { begun: 0, inARow: 0 })
  metrics = 0
  listener = createServer((_, reply) => reply.end(`minecraft_polls_total{server="s",outcome="ok"} ${metrics}\n`))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const polls = () => ({ ...server, ended: server.begun, endedAt: Number.NEGATIVE_INFINITY })
  check = new PollCheck({ polls } as Partial<GameServers> as GameServers, new Map([['s', 0]]))
})

afterEach(() => listener.close())

const scrape = async () => {
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  await check.scrape({ name: 'a', url } as Partial<Replica> as Replica)
}

/** The replica polls the server, which is counted unless it is lost, and is scraped after each poll. */
async function poll(count: number, { isCounted = true } = {}): Promise<void> {
  for (let done = 0; done < count; done++) {
    server.begun++
    server.inARow++
    if (isCounted) metrics++
    await scrape()
  }
}

it('compares the polls that the metrics and the server have counted', async () => {
  await poll(10)
  expect(check).toMatchObject({ compared: 8, problems: [] })
})

it('reports polls that the metrics lack', async () => {
  await poll(10)
  await poll(1, { isCounted: false })
  await poll(5)
  expect(check.problems).toEqual(['a s: the metrics have -1 more polls than the server'])
})

it('compares nothing while a counter may have begun again since the last scrape', async () => {
  await poll(3)
  // Another replica polls the server, and this one takes it over again before it is scraped.
  Object.assign(server, { begun: server.begun + 3, inARow: 3 })
  metrics = 3
  await scrape()
  await poll(10)
  expect(check).toMatchObject({ compared: 10, problems: [] })
})
