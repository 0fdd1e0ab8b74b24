import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createPreviewServer } from '../../grafana/src/preview/server.ts'
import { rulesLoaded } from '../../grafana/src/recording-rules.ts'
import { keepPicture, openContext, sharedBrowser } from '../helpers/browser.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { ensure } from '../tools/ensure.mjs'
import { type PrometheusServer, startPrometheus, writeQuickRules } from './prometheus-server.ts'

const root = join(import.meta.dirname, '..', '..')
const main = join(root, 'dist', 'src', 'main.js')
const panels = ['fleet', 'server', 'internals'].flatMap(
  (name) =>
    (
      JSON.parse(readFileSync(join(root, 'grafana', 'dashboards', `${name}.json`), 'utf8')) as {
        panels: { title: string; type: string; targets?: { expr: string; instant?: boolean }[] }[]
      }
    ).panels,
)

/** Expressions of panels that show current values, for every server. */
const currentPanels = panels
  .filter(({ type }) => type === 'stat' || type === 'table')
  .flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
  .map(({ title, expr }) => ({
    title,
    expr: expr
      .replaceAll(/\$\{(server|group):regex\}/g, '.*')
      .replaceAll('$__range', '1m')
      .replaceAll('$__interval', '1s'),
  }))

/** Panels about the alerts themselves, and about what is unknown. */
const panelsAboutBlindness = ['Alerts firing', 'Firing alerts', 'Servers unknown']

describe.skipIf(!hasTool('prometheus'))('Tickwarden that is killed, under a real Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-blind-'))
  let service: ChildProcess
  let prometheus: PrometheusServer

  beforeAll(async () => {
    service = spawn(process.execPath, [main], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', PORT: '0', POLL_INTERVAL: '1s' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const host = await new Promise<string>((resolve, reject) => {
      let output = ''
      const read = (chunk: Buffer) => {
        output += chunk
        const match = /listens on http:\/\/([\w.:]+)/.exec(output)
        if (match?.[1]) resolve(match[1])
      }
      service.stdout?.on('data', read)
      service.stderr?.on('data', read)
      service.once('close', () => reject(new Error(`ended before it listened:\n${output}`)))
    })
    prometheus = await startPrometheus({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [writeQuickRules(folder)],
      scrape_configs: [{ job_name: 'games', static_configs: [{ targets: [host] }] }],
    })
  })

  afterAll(async () => {
    service?.kill('SIGKILL')
    await prometheus?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const firing = async () => (await prometheus.query('ALERTS{alertstate="firing"}')).map(({ metric }) => metric.alertname).sort()
  const count = async (expr: string) => (await prometheus.query(expr)).length

  it('shows values and no alert while it runs', async () => {
    await expect.poll(() => count('minecraft_up == 1')).toBe(1)
    await expect.poll(() => count(rulesLoaded.name)).toBe(1)
    await expect.poll(() => count(currentPanels.find(({ title }) => title === 'Servers down')!.expr)).toBe(1)
    await expect.poll(firing).toEqual([])
  })

  it.skipIf(!hasTool('chromium'))('is drawn by the dashboard preview without an error', async () => {
    await Promise.all([ensure('test/tools'), ensure('grafana')])
    const server = createPreviewServer(prometheus.url).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const context = await openContext(await sharedBrowser(), { viewport: { width: 1600, height: 1000 } })
    for (const dashboard of ['fleet', 'server', 'internals']) {
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', (error) => errors.push(String(error)))
      const { port } = server.address() as AddressInfo
      const [watched] = await prometheus.query('minecraft_up')
      const name = dashboard === 'server' ? `&server=${watched?.metric.server}` : ''
      await page.goto(`http://127.0.0.1:${port}/?dashboard=${dashboard}&minutes=1${name}`)
      await page.waitForSelector('body[data-ready="true"]')
      expect(await page.locator('.error').allTextContents()).toEqual([])
      expect(errors).toEqual([])
      expect(await page.locator('section').count()).toBeGreaterThan(8)
      await keepPicture(page, `dashboard-${dashboard}`)
    }
  })

  it('is the only alert once it is dead, and no panel shows a number for an unknown value', async () => {
    service.kill('SIGKILL')
    await expect.poll(firing).toEqual(['TickwardenDown'])
    for (const { title, expr } of currentPanels) {
      if (panelsAboutBlindness.includes(title)) continue
      expect(await prometheus.query(expr), `${title}: ${expr}`).toEqual([])
    }
    const unknown = currentPanels.find(({ title }) => title === 'Servers unknown')!
    expect((await prometheus.query(unknown.expr)).map(({ value }) => value[1])).toEqual(['1'])
    const attention = currentPanels.find(({ title }) => title === 'Servers by attention needed')!
    expect(await prometheus.query(attention.expr)).toEqual([])
  })
})
