import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptedCoding, type Coding } from '../http/replies/accept.ts'
import { type PreparedReply, sendPrepared } from '../http/replies/reply.ts'
import { notFound } from '../util/errors.ts'
import { packageRoot } from '../util/package.ts'
import type { Language } from './view/texts.ts'

/** The output folder of `npm run build`. */
const folder = join(packageRoot, 'dist', 'web')

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Options of a route that is only for the page. */
export const hidden = { schema: { hide: true }, config: { crossOrigin: false } } as const

/** Serves a reply of the page that never changes. */
export const addReply = (app: FastifyInstance, path: string, reply: PreparedReply): void =>
  void app.get(path, hidden, (request, own) => sendPrepared(request, own, reply))

/** @param encode returns the body in a coding that the client accepts */
export async function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  encode: (coding: Coding) => Buffer | Promise<Buffer>,
): Promise<FastifyReply> {
  const coding = acceptedCoding(request.headers['accept-encoding'])
  const body = await encode(coding)
  reply.headers(headers)
  if (coding !== 'identity') reply.header('content-encoding', coding)
  return reply.send(body)
}

interface Asset {
  readonly type: string
  /** By content coding. */
  readonly bodies: Readonly<Record<Coding, Buffer>>
}

/** Names of the files of one language with their hash: `page.js` to `page-4F2A.js`. */
export type AssetNames = Readonly<
  Record<'page.js' | 'theme.js' | 'page.css' | 'server.js' | 'server.css' | 'plain.css' | 'docs.js' | 'docs.css', string>
>

export function readNames(language: Language): AssetNames {
  try {
    const { shared, ...own } = JSON.parse(readFileSync(join(folder, 'assets.json'), 'utf8'))
    if (own[language] === undefined) throw new RangeError(`They were built without "${language}".`)
    return { ...shared, ...own[language] }
  } catch (error) {
    throw new Error('The files of the status page are missing; run "npm run build".', { cause: error })
  }
}

function readAssets(): ReadonlyMap<string, Asset> {
  const read = (name: string) => readFileSync(join(folder, name))
  const assets = readdirSync(folder).flatMap((name) => {
    const type = types[/\.(\w+)$/.exec(name)?.[1] ?? '']
    if (type === undefined) return []
    return [[name, { type, bodies: { br: read(`${name}.br`), gzip: read(`${name}.gz`), identity: read(name) } }] as const]
  })
  return new Map(assets)
}

/**
 * Serves the scripts and styles of the page at `/page/assets/`. Their names change with their content, so they may be cached
 * forever. Not @fastify/static, whose libraries would add a sixth to the CPU time of a start (`npm run bench -- start`).
 * @throws Error if they have not been built
 */
export function registerAssets(app: FastifyInstance): void {
  const assets = readAssets()
  app.get('/page/assets/:name', hidden, (request, reply) => {
    const { name } = request.params as { readonly name: string }
    const asset = assets.get(name)
    if (asset === undefined) throw notFound(`There is no file ${JSON.stringify(name)} of the page; reload it.`)
    const headers = {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    }
    return sendEncoded(request, reply, headers, (coding) => asset.bodies[coding])
  })
}

/** The text of a style sheet, to embed it in a page. */
export const readStyles = (name: 'docs.css'): string => readFileSync(join(folder, readNames('en')[name]), 'utf8')
