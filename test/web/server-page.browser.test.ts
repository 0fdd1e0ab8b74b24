import { beforeAll, describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { type Browser, keepPicture, openPage, type Page, sharedBrowser, violationsOf } from '../helpers/browser.ts'
import type { Script } from '../helpers/fake-fleet.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

const players = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => ({
    name: `Player${String(first + index).padStart(4, '0')}`,
    id: `00000000-0000-4000-8000-${(first + index).toString(16).padStart(12, '0')}`,
  }))
const status = (list: readonly { readonly name: string }[]) => ({
  ...({ edition: 'java', version: '1.21.11', motd: 'Hello there', formattedMotd: '§6Hello §kthere', latency: 0.012 } as const),
  ...{ playersOnline: list.length, playersMax: 6_000, players: { players: list, complete: true } },
})
const ticks = (mean: number) => ({ tickRate: Math.min(20, 1 / mean), tickDurationMean: mean, tickDurationP99: mean * 1.2 })
const scripts = (): Record<string, Script> => ({
  big: { status: status(players(5_000)), rcon: ticks(0.012) },
  lagging: { status: status(players(2)), rcon: ticks(0.08) },
  bedrock: { status: { edition: 'bedrock', version: '1.26.10', playersOnline: 3, playersMax: 10 } },
  down: { status: new SourceError('refused', 'down.test:25565: connection refused') },
})

const open = async (page: Page, url: string, name: string) => {
  await page.goto(`${url}/servers/${name}`)
  await page.locator('#connection[data-state=live]').waitFor({ state: 'attached' })
  await page.locator('.heat [data-tip]').first().waitFor()
}
describe.skipIf(!hasTool('chromium'))('the page of a server in a browser', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await sharedBrowser()
  })

  it.each([
    ['big', 1440, 'dark', 4],
    ['lagging', 360, 'light', 4],
    ['down', 768, 'light', 0],
    ['unpolled', 768, 'dark', 0],
  ] as const)('does not move while it loads, and has no barrier: %s, %i px, %s', async (name, width, scheme, charts) => {
    const service = await buildTestApp({ scripts: { ...scripts(), unpolled: {} }, polled: name !== 'unpolled' })
    const { page, problems } = await openPage(browser, { width, scheme })
    await page.addInitScript(`window.shift = 0; new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
    window.drawn = []
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (...values) {
      window.drawn.push(parseFloat(/[\\d.]+(?=px)/.exec(this.font)[0]) / devicePixelRatio)
      return fillText.apply(this, values)
    }`)
    await open(page, service.url, name)
    expect(await page.locator('figure:visible').count()).toBe(charts)
    await until(async () => (await page.locator('.plot canvas').count()) === charts)
    expect(await page.evaluate('window.shift')).toBeLessThan(0.05)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const overflowing = `[...document.querySelectorAll('#sources .scroll')].filter((e) => e.scrollWidth > e.clientWidth).length`
    expect(await page.evaluate(overflowing)).toBe(0)
    const smallestText = `Math.min(...[...document.querySelectorAll('main *')]
      .filter((e) => e.checkVisibility() && [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
      .map((e) => parseFloat(getComputedStyle(e).fontSize)))`
    expect(await page.evaluate('window.drawn.length > 0')).toBe(charts > 0)
    expect(await page.evaluate(`Math.min(...window.drawn) >= ${smallestText}`)).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    if (name === 'big') expect(await page.evaluate('getComputedStyle(document.querySelector(".k")).animationName')).toBe('none')
    await keepPicture(page, `server-${name}-${width}-${scheme}`)
    expect(problems).toEqual([])
  })

  it('gives the first panel its width before the next one has loaded', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    const { page } = await openPage(browser, { script: false })
    await page.goto(`${service.url}/servers/big`)
    const panel = page.locator('.online')
    const width = (await panel.boundingBox())?.width
    await page.locator('.online ~ *').evaluateAll((later) => {
      for (const element of later) element.remove()
    })
    expect((await panel.boundingBox())?.width).toBe(width)
    expect(width).toBeLessThan(700)
  })

  it('has a table behind each chart, which the keyboard opens', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    const { page, problems } = await openPage(browser, { width: 360 })
    await open(page, service.url, 'lagging')
    await page.locator('.plot canvas').nth(3).waitFor()
    const summaries = await page.locator('.as-table summary').all()
    expect(summaries).toHaveLength(7)
    for (const summary of summaries) await summary.press('Enter')
    for (const [name, rows] of [
      ['hours', 48],
      ['days', 90],
      ['week', 24],
      ['players', 1],
    ] as const)
      await until(async () => (await page.locator(`[data-table=${name}] tbody tr`).count()) === rows)
    expect(await page.locator('[data-table=players] td').textContent()).toBe('2')
    expect(await page.locator('[data-table=tickTime] td').allTextContents()).toEqual(['80.0', '96.0'])
    // New values do not close them.
    await service.clock.advance(5_000)
    service.fleet.scripts.lagging = { status: status(players(3)) }
    await service.fleet.pollAll()
    await page.locator('.facts').getByText('3', { exact: true }).first().waitFor()
    expect(await page.locator('[data-table=days] tbody tr').count()).toBe(90)
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(problems).toEqual([])
  })

  it('tells the day of a daily value as the bars do, and no time, in any time zone', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    await service.clock.advance(5_000)
    await service.fleet.pollAll()
    const { page } = await openPage(browser, { zone: 'Pacific/Auckland' })
    await open(page, service.url, 'lagging')
    await page.getByRole('button', { name: '90 days' }).click()
    const figure = page.locator('[data-chart=players]')
    await figure.locator('.peak').getByText('Peak 2, Nov 14, 2023', { exact: true }).waitFor()
    await figure.locator('summary').click()
    await figure.getByRole('rowheader', { name: 'Nov 14, 2023', exact: true }).waitFor()
    expect(await page.locator('.days .cell').last().getAttribute('data-tip')).toMatch(/^Nov 14, 2023:/)
    // A shorter period has times, in the time zone of the reader.
    await page.getByRole('button', { name: '24 hours' }).click()
    await figure
      .locator('.peak')
      .getByText(/^Peak 2, Nov 15, 2023, 11:\d\d AM$/)
      .waitFor()
  })

  it('shows the finer values of a part once they are loaded, and no time of daily ones beside them', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    for (const ms of [5_000, 3 * 86_400_000, 5_000]) {
      await service.clock.advance(ms)
      await service.fleet.pollAll()
    }
    const { page } = await openPage(browser)
    let finer = 0
    page.on('request', (request) => {
      if (request.url().includes('points=1000')) finer++
    })
    // The page reads the time of the service in its replies, which have that of this machine.
    await page.addInitScript((date) => {
      const { get } = Headers.prototype
      Headers.prototype.get = function (name) {
        return name === 'date' ? date : get.call(this, name)
      }
    }, new Date(service.clock.wall()).toUTCString())
    await open(page, service.url, 'lagging')
    await page.getByRole('button', { name: '90 days' }).click()
    const figure = page.locator('[data-chart=players]')
    await figure.locator('.peak').getByText('Nov 14, 2023').waitFor()
    await figure.locator('summary').click()
    const area = figure.locator('.u-over')
    await area.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await area.boundingBox())!
    await page.mouse.move(x + width - 12, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width - 1, y + height / 2, { steps: 4 })
    await page.mouse.up()
    // The finer values of the last day are after its noon, and thus not shown. A double click shows the whole period again.
    await figure.locator('.peak', { hasNotText: 'Peak' }).waitFor()
    expect(finer).toBe(1)
    await page.mouse.dblclick(x + width / 2, y + height / 2)
    await figure.getByRole('rowheader', { name: /^Nov 17, 2023, / }).waitFor()
    expect(await figure.getByRole('rowheader').allTextContents()).toContain('Nov 14, 2023')
  })

  it('shows a join of thousands of players by its event alone, and finds players on the server', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    const { page, problems } = await openPage(browser)
    // After the stream has begun.
    const loaded = page.waitForResponse(/page\/servers\/big$/)
    await open(page, service.url, 'big')
    await page.getByText('and 4,900 more').waitFor()
    await loaded
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    const poll = async (list: readonly { readonly name: string }[]) => {
      await service.clock.advance(5_000)
      service.fleet.scripts.big = { status: status(list), rcon: ticks(0.012) }
      await service.fleet.pollAll()
    }
    await poll([...players(4_999), { name: 'Zoe' }])
    const list = page.getByRole('list', { name: 'Players online' })
    await list.getByText('Zoe', { exact: true }).waitFor()
    expect(await list.getByRole('listitem').count()).toBe(100)
    await page.getByLabel('Find a player').fill('player49')
    await page.getByText('99 found').waitFor()
    await page.getByLabel('Find a player').fill('PLAYER4998')
    await page.getByText('1 found').waitFor()
    expect(await list.getByRole('listitem').allInnerTexts()).toEqual([expect.stringContaining('Player4998')])
    await poll(players(4_998))
    await page.getByText('No player online has this name.').waitFor()
    await page.getByLabel('Find a player').fill('')
    await page.getByText('and 4,900 more').waitFor()
    expect(requests.filter((path) => path === '/page/servers/big')).toEqual([])
    expect(problems).toEqual([])
    // Without a poll, the list and what was found of it are soon not known.
    await page.getByLabel('Find a player').fill('player49')
    await page.getByText('98 found').waitFor()
    await service.clock.advance(60_000)
    await page.getByText('Unknown while the server does not answer.').waitFor()
    expect(await list.count()).toBe(0)
  })

  it('says that a search failed, instead of showing all players as found', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    const { page } = await openPage(browser, { mayFail: () => true })
    await open(page, service.url, 'big')
    await page.route('**/players?search=*', (route) => route.fulfill({ status: 503 }))
    await page.getByLabel('Find a player').fill('player49')
    await page.getByText('The search failed.').waitFor()
    expect(await page.getByRole('list', { name: 'Players online' }).count()).toBe(0)
    expect(await page.getByText(/^and 4,900 more| found$/).count()).toBe(0)
    await keepPicture(page, 'search-failed')
    await page.getByLabel('Find a player').fill('')
    await page.getByText('and 4,900 more').waitFor()
  })

  it('copies the address, and has bars and shades in forced colours and in print', async () => {
    const service = await buildTestApp({ scripts: scripts() })
    const { page, problems } = await openPage(browser, { width: 768 })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await open(page, service.url, 'bedrock')
    await page.getByRole('button', { name: /Copy.*Address/ }).click()
    await page.getByText('Copied', { exact: true }).first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('bedrock.test:19132')
    expect(await page.getByRole('link', { name: 'Add to Minecraft' }).getAttribute('href')).toMatch(/^minecraft:/)
    await page.emulateMedia({ forcedColors: 'active' })
    expect(await violationsOf(page)).toEqual([])
    await keepPicture(page, 'server-forced-colors')
    await page.emulateMedia({ forcedColors: 'none', media: 'print' })
    expect(await page.getByRole('button', { name: /Copy.*Address/ }).isVisible()).toBe(false)
    expect(await page.locator('.admin').isVisible()).toBe(false)
    await keepPicture(page, 'server-print')
    expect(problems).toEqual([])
  })
})
