import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface FakeGithub {
  readonly url: string
  /** `METHOD path status` of every answer, in order. */
  readonly log: string[]
  /** The received Authorization headers. */
  readonly tokens: (string | undefined)[]
  /** Replies by path; a value is sent as JSON with an ETag, a function answers itself. */
  readonly replies: Map<string, unknown>
  close(): Promise<void>
}

/** Answers as the REST API of GitHub does: JSON, ETag and 304, rate limit headers, 404 with a message. */
export async function fakeGithub(): Promise<FakeGithub> {
  const replies = new Map<string, unknown>()
  const log: string[] = []
  const tokens: (string | undefined)[] = []
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization)
    response.on('finish', () => log.push(`${request.method} ${request.url} ${response.statusCode}`))
    const reply = replies.get(request.url ?? '')
    if (typeof reply === 'function') return (reply as Answer)(request, response)
    const found = reply !== undefined
    const body = JSON.stringify(found ? reply : { message: 'Not Found', status: '404' })
    const etag = `W/"${createHash('sha1').update(body).digest('hex')}"`
    const headers = { 'content-type': 'application/json; charset=utf-8', 'x-ratelimit-remaining': '4000', ...(found && { etag }) }
    if (found && request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end()
    response.writeHead(found ? 200 : 404, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    tokens,
    replies,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Adds a repository in the format of the API. */
export function addRepository(
  github: FakeGithub,
  name: string,
  { languages, tag, date, branch = 'main' }: { languages: Record<string, number>; tag?: string; date: string; branch?: string },
): void {
  const base = `/repos/${name}`
  github.replies.set(base, { full_name: name, default_branch: branch, archived: false, pushed_at: '2020-01-01T00:00:00Z' })
  github.replies.set(`${base}/languages`, languages)
  if (tag !== undefined) github.replies.set(`${base}/releases/latest`, { tag_name: tag })
  github.replies.set(`${base}/commits?sha=${encodeURIComponent(branch)}&per_page=1`, [{ sha: 'a', commit: { author: { date } } }])
}
