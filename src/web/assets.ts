import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { packageRoot } from '../util/package.ts'

/** The output folder of `npm run build`. */
const folder = join(packageRoot, 'dist', 'web')

/** Names of the files with their hash: `page.js` to `page-4F2A.js`. */
export type AssetNames = Readonly<
  Record<'page.js' | 'theme.js' | 'page.css' | 'server.js' | 'server.css' | 'plain.css' | 'docs.css', string>
>

function readNames(): AssetNames {
  try {
    return JSON.parse(readFileSync(join(folder, 'assets.json'), 'utf8')) as AssetNames
  } catch (error) {
    throw new Error('The files of the status page are missing; run "npm run build".', { cause: error })
  }
}

/**
 * Serves the scripts and styles of the page at `/page/assets/`. Their names change with their content, so they may be cached
 * forever.
 * @throws Error if they have not been built
 */
export function registerAssets(app: FastifyInstance): AssetNames {
  const names = readNames()
  app.register(fastifyStatic, {
    root: folder,
    prefix: '/page/assets/',
    // A route for each file: all other paths are unknown, as elsewhere.
    wildcard: false,
    globIgnore: ['*.br', '*.gz', 'assets.json'],
    preCompressed: true,
    ...{ immutable: true, maxAge: '365d', decorateReply: false },
    setHeaders: (reply) => reply.header('vary', 'Accept-Encoding'),
  })
  return names
}

/** The text of a style sheet, to embed it in a page. */
export const readStyles = (name: 'docs.css'): string => readFileSync(join(folder, readNames()[name]), 'utf8')
