import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Panel, queryPanel } from './panel-data.ts'

const require = createRequire(import.meta.url)
const own = (file: string) => readFileSync(join(import.meta.dirname, file))
const ofUplot = (file: string) => readFileSync(require.resolve(`uplot/dist/${file}`))

const files: Readonly<Record<string, readonly [type: string, read: () => Buffer]>> = {
  '/': ['text/html; charset=utf-8', () => own('page.html')],
  '/preview.js': ['text/javascript; charset=utf-8', () => own('preview.js')],
  '/preview.css': ['text/css; charset=utf-8', () => own('preview.css')],
  '/uplot.js': ['text/javascript; charset=utf-8', () => ofUplot('uPlot.iife.min.js')],
  '/uplot.css': ['text/css; charset=utf-8', () => ofUplot('uPlot.min.css')],
}

const dashboardFolder = join(import.meta.dirname, '..', '..', 'dashboards')

const dashboards = ['fleet', 'server', 'internals'] as const

/** The panels of a dashboard with the results of their queries. */
async function dataOf(query: URLSearchParams, prometheus: string) {
  const name = dashboards.find((one) => one === query.get('dashboard')) ?? 'fleet'
  const { panels } = JSON.parse(readFileSync(join(dashboardFolder, `${name}.json`), 'utf8')) as { panels: readonly Panel[] }
  const minutes = Math.min(1440, Math.max(1, Number(query.get('minutes') ?? 15) || 15))
  const to = Date.now() / 1000
  const range = { from: to - minutes * 60, to, step: Math.max(1, (minutes * 60) / 240) }
  const server = query.get('server') || '.*'
  return {
    range,
    panels: await Promise.all(
      panels
        .flatMap((panel) => [panel, ...(panel.panels ?? [])])
        .map(async (panel) => ({ panel, results: await queryPanel(panel, { prometheus, server, range }) })),
    ),
  }
}

/**
 * Serves a page that draws the panels of the dashboards with the results of their queries, to check the layout without Grafana.
 * @param prometheus base URL of Prometheus
 */
export function createPreviewServer(prometheus: string): Server {
  return createServer(async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://preview')
    const file = files[pathname]
    try {
      if (file !== undefined) reply.setHeader('content-type', file[0]).end(file[1]())
      else if (pathname === '/data') {
        const data = await dataOf(searchParams, prometheus)
        reply.setHeader('content-type', 'application/json').end(JSON.stringify(data))
      } else reply.writeHead(404).end()
    } catch (error) {
      reply
        .writeHead(502, { 'content-type': 'text/plain' })
        .end(`${prometheus}: ${error instanceof Error ? error.message : error}`)
    }
  })
}
