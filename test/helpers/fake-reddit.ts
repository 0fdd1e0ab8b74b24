import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeReddit {
  readonly url: string
  /** By wiki page, Markdown. Names are in lower case; other spellings are redirected, as Reddit does. */
  readonly pages: Map<string, string>
  /** Revision of a page: increases when its text changes, unless set here. */
  readonly revisions: Map<string, number>
  /** Requested paths, with ` 302` if that was the reply. */
  readonly requested: string[]
  /** Replies to the next requests for a page, used up first. */
  readonly instead: Map<string, ((request: IncomingMessage, response: ServerResponse) => void)[]>
  /** The reply to a request without a token: pages, a refusal, or a redirect to the login page. */
  publicPages: boolean | 'login'
  readonly id: string
  readonly secret: string
  /** Number of issued tokens; only the last one is valid. */
  readonly tokens: string[]
  close(): void
}

const month = (text: string): [key: string, page: string] => {
  const [year, name] = text.split('/') as [string, string]
  return [`${name.slice(0, 1).toUpperCase()}${name.slice(1)} ${year}`, `upcoming-releases/${year}/${name}`]
}

/** The archive page of months such as `2024/february`, newest first. */
export const archiveOf = (months: readonly string[]): string =>
  months
    .map(month)
    .map(([title, page]) => `###[${title}](https://www.reddit.com/r/kpop/wiki/${page})`)
    .join('\r\n\r\n')

export const tableOf = (...rows: readonly string[]): string =>
  [
    '### Scheduled Releases:',
    '',
    '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming',
    '|--|--|--|--|--|--|--',
    ...rows,
    '',
    '### OSTs:',
    '',
    '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming',
    '|--|--|--|--|--|--|--',
    '|1st|18:00|*Somebody*|*Drama OST Part 1*|OST||',
  ].join('\r\n')

/** Reddit's token service and wiki API, as far as UPSTREAMS and the script know them. */
export async function startFakeReddit(): Promise<FakeReddit> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake')
    const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers }).end(JSON.stringify(body))

    if (pathname === '/api/v1/access_token') {
      const basic = `Basic ${Buffer.from(`${reddit.id}:${reddit.secret}`).toString('base64')}`
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        reddit.requested.push('token')
        if (request.method !== 'POST' || body !== 'grant_type=client_credentials')
          return json(400, { error: 'unsupported_grant_type' })
        if (request.headers.authorization !== basic) return json(401, { message: 'Unauthorized', error: 401 })
        reddit.tokens.push(`token-${reddit.tokens.length}-of-the-fake`)
        return json(200, { access_token: reddit.tokens.at(-1), token_type: 'bearer', expires_in: 3600, scope: '*' })
      })
      return
    }
    const page = /^\/r\/kpop\/wiki\/(.+?)(\.json)?$/.exec(pathname)?.[1] ?? ''
    const isPublic = pathname.endsWith('.json')
    const other = reddit.instead.get(page)?.shift()
    if (other !== undefined) {
      reddit.requested.push(page)
      return other(request, response)
    }
    if (!/^nodejs:tickwarden:v\d/.test(request.headers['user-agent'] ?? '')) return json(429, { message: 'Too Many Requests' })
    if (isPublic ? reddit.publicPages !== true : request.headers.authorization !== `Bearer ${reddit.tokens.at(-1)}`) {
      reddit.requested.push(page)
      if (isPublic && reddit.publicPages === 'login') return response.writeHead(302, { location: '/login/?dest=here' }).end()
      return isPublic
        ? response.writeHead(403, { 'content-type': 'text/html' }).end('<html>blocked</html>')
        : json(401, { error: 401 })
    }
    const target = page.toLowerCase()
    if (target !== page) {
      reddit.requested.push(`${page} 302`)
      return response.writeHead(302, { location: `/r/kpop/wiki/${target}${isPublic ? '.json?raw_json=1' : '?raw_json=1'}` }).end()
    }
    const text = reddit.pages.get(page)
    if (text === undefined) {
      reddit.requested.push(page)
      return json(404, { reason: 'PAGE_NOT_CREATED', message: 'Not Found', error: 404 })
    }
    const digest = createHash('md5').update(text).digest('hex')
    const limits = { 'x-ratelimit-remaining': '99.0', 'x-ratelimit-used': '1', 'x-ratelimit-reset': '60' }
    reddit.requested.push(page)
    const revision = reddit.revisions.get(page) ?? Number.parseInt(digest.slice(0, 8), 16)
    const markdown = searchParams.get('raw_json') === '1' ? text : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    json(
      200,
      { kind: 'wikipage', data: { content_md: markdown, content_html: '', revision_date: revision, may_revise: false } },
      limits,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const reddit: FakeReddit = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages: new Map(),
    revisions: new Map(),
    requested: [],
    instead: new Map(),
    publicPages: false,
    id: 'the-client-id',
    secret: 'the-client-secret-hunter2',
    tokens: [],
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return reddit
}
