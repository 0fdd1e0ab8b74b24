import { beforeAll, describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { type Browser, keepPicture, openPage, type Page, sharedBrowser, violationsOf } from '../helpers/browser.ts'
import { openEvents } from '../helpers/event-client.ts'
import { startOverview } from '../helpers/overview-service.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const widths = [360, 768, 1440] as const
const refused = { status: new SourceError('refused', 'x: connection refused') }

const isReady = async (page: Page) => {
  await page.locator('#connection[data-state=live]').waitFor()
  await page.locator('#graph canvas').waitFor()
  await page.locator('.cells').first().waitFor()
}

const heightOf = async (page: Page) => (await page.locator('article', { hasText: 'server-0' }).boundingBox())?.height ?? 0

/** Adds up layout shifts (https://web.dev/articles/cls), which the page then has in `shift`. */
const measureShift = (page: Page) =>
  page.addInitScript(`
    shift = 0
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value
    }).observe({ type: 'layout-shift', buffered: true })`)

describe.skipIf(!hasTool('chromium'))('the page of all servers in a browser', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await sharedBrowser()
  })

  it.each([17, 1_000])('moves nothing while it loads and when a server stops, with %i servers', async (count) => {
    const { url, script, fleet, fieldsOf } = await startOverview(count)
    for (const width of widths) {
      const { page, problems } = await openPage(browser, { width })
      await measureShift(page)
      await page.goto(url)
      await isReady(page)
      script['server-0'] = refused
      await fleet.get('server-0')?.poll()
      await page.getByRole('list', { name: 'Servers that need attention' }).waitFor()
      await page.getByRole('heading', { level: 1, name: `${Math.ceil((count - 4) / 16) + 1} servers down` }).waitFor()
      // The list is sorted again after some seconds.
      const first = page.locator('#cards details').first().getByRole('link', { name: 'server-0', exact: true })
      if (width === 1440) await first.waitFor()
      const headings = "[...document.querySelectorAll('#cards summary')].map((e) => e.scrollHeight <= e.clientHeight)"
      expect(await page.evaluate<boolean[]>(headings), `${width} px`).not.toContain(false)
      expect(await page.evaluate('shift'), `${width} px`).toBeLessThan(0.05)
      // Beside long names, a short one keeps room for its state.
      const isRoomy = `[...document.querySelectorAll('.attention b')].forEach((name, index) => {
        name.textContent = index === 0 ? 'a' : 'x'.repeat(60)
      })
      ;[...document.querySelectorAll('.attention li')].map((e) => e.scrollWidth <= e.clientWidth)`
      expect(await page.evaluate<boolean[]>(isRoomy), `${width} px`).not.toContain(false)
      expect(problems).toEqual([])
      script['server-0'] = { status: fieldsOf(0) }
      await fleet.get('server-0')?.poll()
    }
  })

  it('shows controls only if there are servers', async () => {
    for (const count of [0, 1]) {
      const { url } = await startOverview(count)
      const { page, problems } = await openPage(browser, { width: 360 })
      await page.goto(url)
      await page.locator('#connection[data-state=live]').waitFor()
      expect(await page.locator('form.controls').isVisible()).toBe(count > 0)
      // A row, on phones.
      if (count > 0) expect(await heightOf(page)).toBeLessThan(100)
      expect(problems).toEqual([])
    }
  })

  it('shows names in full, and needs no scrolling sideways, on a phone with text of twice the usual size', async () => {
    const { url } = await startOverview(6)
    const { page, problems } = await openPage(browser, { width: 320, locale: 'de-DE' })
    const session = await page.context().newCDPSession(page)
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
    await page.goto(url)
    const down = page.locator('article', { hasText: 'server-4' })
    await down.scrollIntoViewIfNeeded()
    await down.locator('.badge').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    for (const name of ['Game', 'Network', 'server-4']) {
      const widths = await page
        .getByRole('heading', { name, exact: true })
        .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth] as const)
      expect(widths[0], name).toBe(widths[1])
    }
    expect(problems).toEqual([])
  })

  it('has no barrier with a collapsed group, a hidden line, a filter that finds nothing, and forced colours', async () => {
    const { url } = await startOverview(30)
    const { page, problems } = await openPage(browser)
    await page.goto(url)
    await isReady(page)
    // Rows, because the servers are many.
    expect(await heightOf(page)).toBeLessThan(100)
    await page.locator('#cards summary').nth(1).click()
    await page.locator('#graph [data-line="1"]').click()
    expect(await violationsOf(page)).toEqual([])
    await page.getByLabel('Search').fill('nothing like this')
    await page.getByText('No server matches.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Show all servers' }).click()
    await page.emulateMedia({ forcedColors: 'active' })
    await keepPicture(page, 'overview-forced-colours', {})
    expect(await violationsOf(page)).toEqual([])
    await page.emulateMedia({ forcedColors: 'none', media: 'print' })
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(await page.locator('article .badge').count()).toBe(30)
    expect(await page.locator('.controls').isVisible()).toBe(false)
    await keepPicture(page, 'overview-print')
    expect(problems).toEqual([])
  })

  it.each([540, 701, 768, 1000, 1105])(
    'has room in a row for a name beside the longest state, and for a reason, at %i px',
    async (width) => {
      const { url, script, fleet } = await startOverview(3)
      script['server-0'] = refused
      await fleet.get('server-0')?.poll()
      const { page } = await openPage(browser, { width })
      await page.goto(`${url}?density=rows`)
      await isReady(page)
      const row = page.locator('article', { hasText: 'server-0' })
      await row.getByText('connection refused').waitFor()
      const areCut = `[...document.querySelectorAll('article')].flatMap((row) => {
      row.querySelector('.badge').lastChild.nodeValue = 'Maintenance'
      return [...row.querySelectorAll('h3, .reason')].map((text) => text.scrollWidth > text.clientWidth)
    })`
      expect(await page.evaluate(areCut)).toEqual([false, false, false, false])
      await keepPicture(page, `overview-rows-${width}`)
    },
  )

  it('keeps the density in the address and the browser', async () => {
    const { url } = await startOverview(3)
    const open = async (address: string) => {
      const { page } = await openPage(browser)
      await page.goto(address)
      await isReady(page)
      return page
    }
    const page = await open(url)
    expect(await heightOf(page)).toBeGreaterThan(300)
    await page.getByRole('button', { name: 'Rows' }).click()
    expect(await heightOf(page)).toBeLessThan(100)
    expect(new URL(page.url()).search).toBe('?density=rows')
    // Only in the browser, before the script of the page.
    await page.route(/assets\/page-.*\.js/, (route) => route.abort())
    await page.goto(url)
    expect(await heightOf(page)).toBeLessThan(100)
    // Only in the address.
    expect(await heightOf(await open(`${url}?density=rows`))).toBeLessThan(100)
  })

  it('has a line for each server, which can be hidden and tells its players at the pointer', async () => {
    const { url } = await startOverview(3)
    const { page, problems } = await openPage(browser)
    await page.goto(url)
    await isReady(page)
    const graph = page.locator('#graph')
    const line = graph.getByRole('button', { name: 'server-2' })
    await line.getByText('2', { exact: true }).waitFor()
    expect(await graph.getByRole('button').allTextContents()).toEqual([
      'All servers3',
      'server-00',
      'server-11',
      'server-22',
      'Hide all',
    ])
    await line.focus()
    await page.keyboard.press('Enter')
    expect(await line.getAttribute('aria-pressed')).toBe('false')
    await line.click()
    const { x, y, width, height } = (await graph.locator('.u-over').boundingBox())!
    await page.mouse.move(x + width - 2, y + height / 2)
    await graph
      .locator('.readout')
      .getByText(/^server-\d: \d at /)
      .waitFor()
    await graph.getByRole('button', { name: 'Hide all' }).click()
    expect(await graph.locator('[aria-pressed=true]').count()).toBe(0)
    await graph.getByText('Show as table').click()
    // The table is made by an event that follows the click.
    await graph.getByRole('columnheader').last().waitFor()
    expect(await graph.getByRole('columnheader').allTextContents()).toEqual([
      'Time',
      'All servers',
      'server-0',
      'server-1',
      'server-2',
    ])
    expect(await graph.getByRole('row').last().getByRole('cell').allTextContents()).toEqual(['3', '0', '1', '2'])
    expect(await violationsOf(page)).toEqual([])
    await keepPicture(page, 'overview-table', {})
    expect(problems).toEqual([])
  })

  it('has the total and the ten largest of many servers, and no graph without JavaScript but the curve of the total', async () => {
    const { url } = await startOverview(30)
    const { page } = await openPage(browser)
    await page.goto(url)
    await isReady(page)
    expect(await page.locator('#graph [data-line]').count()).toBe(12)
    expect(await page.locator('#graph').getByRole('button', { name: 'All servers' }).getAttribute('aria-pressed')).toBe('true')
    const plain = await openPage(browser, { script: false })
    await plain.page.goto(url)
    await plain.page.locator('#graph svg').waitFor()
    expect(await plain.page.getByRole('row').count()).toBe(31)
  })

  it('weighs little with a server of 10,000 players, also while these come and go', async () => {
    const { url, script, fleet, fieldsOf } = await startOverview(60, { HISTORY_PLAYERS: 'false' })
    const list = (from: number) =>
      Array.from({ length: 10_000 }, (_, index) => ({
        name: `Player_${from + index}`,
        id: `29a8c5e0-45a6-4f75-83d5-${String(from + index).padStart(12, '0')}`,
      }))
    const show = async (round: number) => {
      const players = { players: list(round * 50), complete: true }
      script['server-0'] = { status: { ...fieldsOf(0), playersOnline: 10_000 - round, playersMax: 20_000, players } }
      await fleet.get('server-0')?.poll()
    }
    await show(0)
    const { page } = await openPage(browser)
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    let bytes = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }: { encodedDataLength: number }) => {
      bytes += encodedDataLength
    })
    session.on('Network.dataReceived', ({ dataLength }: { dataLength: number }) => {
      if (isLive) streamed += dataLength
    })
    let [isLive, streamed] = [false, 0]
    await page.goto(url)
    await isReady(page)
    isLive = true
    const rounds = 4
    for (let round = 1; round <= rounds; round++) await show(round)
    await page.getByText('9,996 / 20,000').waitFor()
    // A minute has twelve polls.
    const perMinute = (streamed * 12) / rounds
    console.info(`the page weighs ${bytes} bytes, and ${perMinute} in a minute of changes`)
    expect(bytes).toBeGreaterThan(30_000)
    expect(bytes).toBeLessThan(100_000)
    expect(perMinute).toBeGreaterThan(0)
    expect(perMinute).toBeLessThan(20_000)
    // A client that has not the states yet gets them, also without the lists.
    const events = await openEvents(`${url}/page/events`)
    await until(() => events.text().includes('server-59'))
    expect(events.text()).not.toContain('Player_')
    events.close()
  })
})
