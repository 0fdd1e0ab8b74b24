import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { exampleServer, silentServer } from './example-server.ts'
import { archiveOf, startFakeReddit, tableOf } from './fake-reddit.ts'
import { buildTestApp, type TestApp } from './test-app.ts'
import { until } from './until.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly example?: unknown
  readonly schema: Readonly<Record<string, unknown>>
}

export interface Media {
  readonly schema: object
  readonly example?: unknown
}

export interface OpenApiReply {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, Media>>
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly security?: readonly object[]
  readonly responses: Readonly<Record<string, OpenApiReply>>
}

export interface OpenApi {
  readonly servers: readonly object[]
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object }
}

/** A request that is valid according to the description, or documented as an error. */
export interface Call {
  readonly path: string
  readonly base: string
  /** Of the path and the query, by name. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

const scripts = () => ({
  Server: exampleServer,
  silent: silentServer,
  down: { status: new SourceError('refused', 'down: refused') },
})

interface Services {
  readonly services: readonly TestApp[]
  /** Services that can run scripts: one that always starts them, and one that has just run them. */
  readonly runServices: readonly TestApp[]
  readonly document: OpenApi
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-empty-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** The list of projects has no repository, and the wiki is local. */
async function startRunServices(): Promise<readonly TestApp[]> {
  const reddit = await startFakeReddit()
  onTestFinished(() => reddit.close())
  reddit.publicPages = true
  reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/january']))
  reddit.pages.set('upcoming-releases/2024/january', tableOf('|1st|18:00|*A*|*a*|Single||'))
  const upstreams = {
    REDDIT_AUTH_URL: reddit.url,
    REDDIT_API_URL: reddit.url,
    GITHUB_API_URL: reddit.url,
    UPDATE_SCHEDULE: 'off',
  }
  const start = async (pause: string) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'projects.config.json'), '[{"title":"By hand"}]')
    return buildTestApp({ scripts: scripts(), env: { ...upstreams, DATA_DIR: folder, RUN_PAUSE: pause } })
  }
  const services = [await start('0s'), await start('1h')]
  for (const { get } of services.slice(1)) {
    for (const name of ['kcomebacks', 'projects']) {
      await get(`/v1/run/${name}`)
      await until(async () => (await (await get('/v1/run')).text()).match(/"state":"running"/) === null)
    }
  }
  return services
}

const documentOf = async ({ get }: TestApp) => (await (await get('/openapi.json')).json()) as OpenApi

export const readDocument = async (): Promise<OpenApi> => documentOf(await buildTestApp({ scripts: scripts() }))

/** Services in every documented state, with the document of the first one. */
export async function startServices(): Promise<Services> {
  const empty = await temporaryFolder()
  const first = await buildTestApp({ scripts: scripts() })
  const services = [
    first,
    await buildTestApp({ scripts: scripts(), polled: false, env: { DATA_DIR: empty, METRICS_TOKEN: 'x', RUN_TOKEN: 'x' } }),
    await buildTestApp({ scripts: scripts(), env: { HOST: '0.0.0.0' } }),
  ]
  return { services, runServices: await startRunServices(), document: await documentOf(first) }
}

/** Calls of every route: valid, for another server, with an invalid value; the favicon also in its other forms. */
export function callsOf({ services, runServices, document }: Services): readonly Call[] {
  const paths = Object.entries(document.paths)
  const runPaths = paths.filter(([path]) => path.startsWith('/v1/run'))
  return [...services, ...runServices].flatMap(({ url }, service) =>
    (service < services.length ? paths : runPaths).flatMap(([path, { get }]) => {
      const inUrl = (get.parameters ?? []).filter((parameter) => parameter.in !== 'header')
      const given = Object.fromEntries(inUrl.map(({ name, example }) => [name, example]))
      const right = {
        ...given,
        ...('name' in given && { name: 'Server' }),
        ...('target' in given && { target: 'Server', debug: false }),
      }
      const call = (parameters: Call['parameters'], headers: Call['headers'] = {}) => ({ path, base: url, parameters, headers })
      const wrong = [
        ...('name' in given ? ['silent', 'down', 'nobody'].map((name) => call({ ...right, name })) : []),
        ...('limit' in given ? [call({ ...right, limit: 51 })] : []),
        ...('target' in given ? [call({ ...right, target: 'mc.example.org' }), call({ ...right, target: 'a b c' })] : []),
      ]
      const forms = path.endsWith('/favicon') ? [call(right, { accept: 'application/json' }), call({ ...right, size: 8 })] : []
      return service === 0 ? [call(right), ...wrong, ...forms] : [call(right)]
    }),
  )
}

export function urlOf({ base, path, parameters }: Call): string {
  const inPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters[name])))
  const query = Object.entries(parameters).filter(([name]) => !path.includes(`{${name}}`))
  const text = String(new URLSearchParams(query.map(([name, value]) => [name, String(value)])))
  return `${base}${inPath}${text === '' ? '' : `?${text}`}`
}
