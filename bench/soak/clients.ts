import { get, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { Agent, request } from 'undici'

// What clients do during a soak. Each part runs until `signal` aborts, and adds what goes wrong to `problems`.

export interface Tally {
  requests: number
  events: number
  streams: number
  readonly problems: string[]
}

/** When more are open, the oldest one is closed: clients come and go. */
const openStreams = 10

/** Requests one path after the other. @param check returns what is wrong with a reply */
export async function requestForever(
  url: string,
  paths: readonly string[],
  pauseMs: number,
  signal: AbortSignal,
  tally: Tally,
  check: (path: string, body: string) => string | undefined = () => undefined,
): Promise<void> {
  const agent = new Agent({ connections: 1 })
  for (let index = 0; !signal.aborted; index = (index + 1) % paths.length) {
    const path = paths[index]!
    try {
      const options = { dispatcher: agent, headers: { 'accept-encoding': 'gzip' } }
      const { statusCode, headers, body } = await request(url + path, options)
      const bytes = Buffer.from(await body.arrayBuffer())
      const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
      const problem = statusCode === 200 ? check(path, text) : `${statusCode} ${text.slice(0, 200)}`
      if (problem !== undefined) tally.problems.push(`${path}: ${problem}`)
    } catch (error) {
      tally.problems.push(`${path}: ${(error as Error).message}`)
    }
    tally.requests++
    await setTimeout(pauseMs)
  }
  await agent.close()
}

/** Keeps event streams open, and replaces the oldest by a new one every `pauseMs`. */
export async function followForever(url: string, paths: readonly string[], pauseMs: number, signal: AbortSignal, tally: Tally) {
  const open: { stream: IncomingMessage; isLeaving: boolean }[] = []
  const leave = () => {
    const oldest = open.shift()
    if (oldest === undefined) return
    oldest.isLeaving = true
    oldest.stream.destroy()
  }
  for (let count = 0; !signal.aborted; count++) {
    const path = paths[count % paths.length]!
    try {
      const stream = await new Promise<IncomingMessage>((resolve, reject) => {
        get(url + path, { agent: false }, resolve).on('error', reject)
      })
      const client = { stream, isLeaving: false }
      if (stream.statusCode !== 200) tally.problems.push(`${path}: ${stream.statusCode}`)
      stream.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf('event: '); at >= 0; at = chunk.indexOf('event: ', at + 1)) tally.events++
      })
      stream.on('error', () => {})
      stream.on('close', () => {
        if (!client.isLeaving) tally.problems.push(`${path}: the service has closed the stream`)
      })
      open.push(client)
      tally.streams++
    } catch (error) {
      tally.problems.push(`${path}: ${(error as Error).message}`)
    }
    if (open.length > openStreams) leave()
    // The first ones connect at once.
    if (count >= openStreams) await setTimeout(pauseMs)
  }
  while (open.length > 0) leave()
}
