import { basicAuthorization } from '../../../util/basic-authorization.ts'
import { textAt, valueAt } from '../../../util/is-record.ts'
import { version } from '../../../util/package.ts'
import { withAccessToken } from '../access-token.ts'
import type { RunContext } from '../script.ts'
import { createUpstream, type UpstreamContext } from '../upstream.ts'
import { UpstreamError } from '../upstream-error.ts'

export type Wiki = ReturnType<typeof openWiki>

const subreddit = 'kpop'

/** Whether access was refused. Excludes rate limits, which Reddit also reports with a 403. */
const isRefusal = ({ kind, status }: UpstreamError): boolean => kind === 'status' && (status === 401 || status === 403)

const asText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

/** The wiki of r/kpop: with credentials through Reddit's API, without them its public pages. */
export function openWiki({ values, ...context }: UpstreamContext & Pick<RunContext, 'values'>) {
  const { redditClientId: id = '', redditClientSecret: secret = '' } = values
  const headers = { 'user-agent': `nodejs:tickwarden:v${version} (reads the r/kpop wiki)` }
  const common = { name: 'Reddit', headers }
  const site = createUpstream(context, { ...common, baseUrl: values.redditAuthUrl })
  const api = createUpstream(context, { ...common, baseUrl: values.redditApiUrl })

  async function getToken(): Promise<string> {
    const request = {
      method: 'POST' as const,
      path: '/api/v1/access_token',
      headers: { authorization: basicAuthorization(id, secret) },
      form: { grant_type: 'client_credentials' },
    }
    const { json } = await site.request(request).catch((error: unknown) => {
      if (!(error instanceof UpstreamError) || !isRefusal(error)) throw error
      throw error.explain(`Reddit rejected REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET (${error.status})`)
    })
    const text = asText(valueAt(json, 'access_token'))
    if (text === undefined || !/^[\x21-\x7e]+$/.test(text))
      throw new UpstreamError('malformed', 'Reddit: the reply of the token service has no token')
    return text
  }
  const send = withAccessToken(getToken)
  const query = { raw_json: '1' }

  async function getPublicly(path: string, page: string) {
    try {
      return await site.request({ path: `${path}.json`, query })
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      // A redirect leads to the login page.
      const isRedirect = error.status !== undefined && error.status >= 300 && error.status < 400
      if (!isRedirect && !isRefusal(error) && error.kind !== 'malformed') throw error
      const reason = `Reddit does not show /wiki/${page} without credentials: set REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET`
      throw new UpstreamError('status', reason, { status: 403, cause: error })
    }
  }

  return {
    /** @param page `upcoming-releases/archive` @throws UpstreamError */
    async read(page: string) {
      const path = `/r/${subreddit}/wiki/${page}`
      const { json } = await (id === '' || secret === ''
        ? getPublicly(path, page)
        : send((authorization) => api.request({ path, query, headers: { authorization } })))
      const data = valueAt(json, 'data')
      const markdown = textAt(data, 'content_md')
      if (markdown === undefined) throw new UpstreamError('malformed', `Reddit: the reply for /wiki/${page} has no page`)
      return {
        markdown,
        /** Changes with every edit; undefined if the upstream does not send it. */
        revision: asText(valueAt(data, 'revision_id')) ?? asText(valueAt(data, 'revision_date')),
      }
    },
  }
}
