import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import sharp from 'sharp'
import { createPreviewServer } from '../../grafana/src/preview/server.ts'
import { startPrometheus } from '../../test/grafana/prometheus-server.ts'
import { startDemoFleet } from '../../test/helpers/demo-fleet.ts'
import { writeSimulatedPast } from './simulated-past.ts'

// Makes the pictures of docs/images from demo servers with a simulated past: npx tsx docs/src/screenshots.ts [MINUTES]
// Needs Chromium and Prometheus; it waits for MINUTES, which the dashboards then show.

const minutes = Number(process.argv[2] ?? 4)
const images = join(import.meta.dirname, '..', 'images')
const tools = createRequire(new URL('../../test/tools/package.json', import.meta.url))

interface Shot {
  readonly name: string
  readonly url: string
  readonly width: number
  readonly height: number
  readonly scheme?: 'light' | 'dark'
  /** The selector that must match before the screenshot. */
  readonly ready: string
}

mkdirSync(images, { recursive: true })
const history = mkdtempSync(join(tmpdir(), 'tickwarden-screenshots-'))
const usual = { tickTimeMs: 13, tickRate: 20 }
const past = [
  { name: 'survival', players: 14, ...usual, outages: [31 * 24, 73 * 24] },
  { name: 'creative', players: 17, tickTimeMs: 60, tickRate: 14, outages: [] },
  { name: 'lobby', players: 3, ...usual, outages: [9 * 24] },
  { name: 'minigames', players: 9, tickTimeMs: 24, tickRate: 20, outages: [5, 52 * 24] },
  { name: 'archive', players: 2, ...usual, outages: [20 * 24, 21 * 24] },
  { name: 'skyblock', players: 6, ...usual, outages: [] },
]
writeSimulatedPast(history, past, Date.now())
const fleet = await startDemoFleet({ HISTORY_DIR: history })
const prometheus = await startPrometheus({
  global: { scrape_interval: '1s', scrape_timeout: '1s' },
  scrape_configs: [{ job_name: 'tickwarden', static_configs: [{ targets: [new URL(fleet.url).host] }] }],
})
const preview = createPreviewServer(prometheus.url).listen(0, '127.0.0.1')
await once(preview, 'listening')
const { port } = preview.address() as AddressInfo
const { chromium } = tools('playwright-core')
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })

const live = '#connection[data-state=live]'
const drawn = 'body[data-ready="true"]'
const dashboard = (name: string, server = '') =>
  `http://127.0.0.1:${port}/?dashboard=${name}&minutes=${minutes}${server && `&server=${server}`}`
const shots: readonly Shot[] = [
  { name: 'status-page-light', url: fleet.url, width: 1280, height: 900, scheme: 'light', ready: live },
  { name: 'status-page-dark', url: fleet.url, width: 1280, height: 900, scheme: 'dark', ready: live },
  { name: 'status-page-phone', url: fleet.url, width: 380, height: 800, scheme: 'light', ready: live },
  { name: 'status-page-server', url: `${fleet.url}/servers/survival`, width: 1280, height: 900, scheme: 'light', ready: live },
  { name: 'dashboard-server', url: dashboard('server', 'survival'), width: 1600, height: 1000, ready: drawn },
  { name: 'dashboard-fleet', url: dashboard('fleet'), width: 1600, height: 1000, ready: drawn },
]

try {
  // One server is down at the end, because the page shows problems first.
  await delay(minutes * 60_000)
  await fleet.servers.archive.close()
  await delay(10_000)
  for (const { name, url, width, height, scheme = 'light', ready } of shots) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' })
    await page.goto(url)
    await page.waitForSelector(ready)
    await delay(2_000)
    const picture: Buffer = await page.screenshot()
    const file = join(images, `${name}.png`)
    const { size } = await sharp(picture).png({ palette: true, effort: 10 }).toFile(file)
    console.log(`docs/images/${name}.png ${size} bytes`)
    await page.close()
  }
} finally {
  await browser.close()
  preview.close()
  await prometheus.stop()
  await fleet.close()
  rmSync(history, { recursive: true })
}
