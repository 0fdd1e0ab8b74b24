import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { type Browser, keepPicture, openPage, type Page, sharedBrowser, takePicture, violationsOf } from '../helpers/browser.ts'
import { type DemoFleet, startDemoFleet } from '../helpers/demo-fleet.ts'
import { openEvents } from '../helpers/event-client.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

/** Advances the clock of a page, whose pauses are many seconds, until the condition is true. */
async function advanceUntil(page: Page, condition: () => Promise<boolean>): Promise<void> {
  await until(async () => {
    if (await condition()) return true
    await page.clock.fastForward(1_000)
    return false
  })
}

const card = (page: Page, name: string) => page.locator('article.card', { has: page.getByRole('heading', { name, exact: true }) })

/** The mean brightness of a picture, 0 to 255, and how much it differs within it. */
async function brightnessOf(picture: Buffer): Promise<{ readonly mean: number; readonly deviation: number }> {
  const [grey] = (await sharp(picture).greyscale().stats()).channels
  return { mean: grey?.mean ?? 0, deviation: grey?.stdev ?? 0 }
}

/** Those selectors whose first element begins outside of the window, is wider, or does not exist. */
const offScreen = (page: Page, selectors: readonly string[]) =>
  page.evaluate<string[]>(`${JSON.stringify(selectors)}.filter((selector) => {
    const box = document.querySelector(selector)?.getBoundingClientRect()
    const isOnScreen = box?.height > 0 && box.x >= 0 && box.right <= innerWidth && box.y >= 0 && box.y < innerHeight
    return !isOnScreen
  })`)

describe.skipIf(!hasTool('chromium'))('the status page in a browser', () => {
  let fleet: DemoFleet
  let browser: Browser

  beforeAll(async () => {
    ;[fleet, browser] = await Promise.all([startDemoFleet({ POLL_INTERVAL: '2s' }), sharedBrowser()])
    await fleet.servers.archive.close()
    await until(async () => (await (await fetch(`${fleet.url}/metrics`)).text()).includes('minecraft_up{server="archive"} 0'))
  })
  afterAll(() => fleet?.close())

  it.each([360, 768, 1440])('has no error, blocked request or barrier at %i px, light and dark', async (width) => {
    const { page, problems } = await openPage(browser, { width })
    await page.goto(fleet.url)
    await page.locator('#connection[data-state=live]').waitFor()
    await card(page, 'creative').getByText('Lagging').waitFor()
    await page.locator('.cells').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.locator('#graph canvas').waitFor()
    for (const [scheme, density] of [
      ['light', 'Rows'],
      ['light', 'Cards'],
      ['dark', 'Cards'],
      ['dark', 'Rows'],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.getByRole('button', { name: density }).click()
      const name = `fleet-${density.toLowerCase()}-${width}-${scheme}`
      // Light or dark, and not empty.
      const { mean, deviation } = await brightnessOf(await takePicture(page, name))
      expect(scheme === 'light' ? mean : 255 - mean, name).toBeGreaterThan(170)
      expect(deviation, name).toBeGreaterThan(10)
      expect(await offScreen(page, ['.verdict', '.attention', '.tiles', '#graph .plot', '#search', 'article']), name).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      // Each of both schemes and densities at every width, and all pairs at one.
      const isPaired = (scheme === 'light') === (density === 'Rows')
      if (width === 1440 || isPaired) expect(await violationsOf(page), name).toEqual([])
    }
    expect(problems).toEqual([])
  })

  it.each([
    [360, 'dark'],
    [1440, 'light'],
  ] as const)('shows one server without error or barrier at %i px, %s, though the clock is wrong', async (width, scheme) => {
    const { page, problems } = await openPage(browser, { width, scheme })
    await page.addInitScript(`globalThis.Date = class extends Date {
      constructor(...of) { super(...(of.length > 0 ? of : [Date.now()])) }
      static now() { return super.now() + 3_600_000 }
    }
    globalThis.wasOffline = false
    new MutationObserver(() => {
      wasOffline ||= document.documentElement.classList.contains('offline')
    }).observe(document, { subtree: true, attributeFilter: ['class'] })`)
    await page.goto(`${fleet.url}/servers/survival`)
    await page.locator('#connection[data-state=live]').waitFor()
    await page.locator('.plot canvas').nth(3).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    const lastContact = page.locator('.facts div', { hasText: 'Last contact' })
    await expect.poll(() => lastContact.textContent()).toMatch(/now|seconds? ago/)
    expect(await page.evaluate('wasOffline')).toBe(false)
    await keepPicture(page, `server-${width}-${scheme}`)
    expect(problems).toEqual([])
  })

  it('shows a player who joins, on the card and in the view of the server', async () => {
    const [fleetView, serverView] = [await openPage(browser), await openPage(browser)]
    await Promise.all([fleetView.page.goto(fleet.url), serverView.page.goto(`${fleet.url}/servers/lobby`)])
    for (const { page } of [fleetView, serverView]) await page.locator('#connection[data-state=live]').waitFor()
    await card(fleetView.page, 'lobby').getByLabel('2 of 20 players').waitFor()
    const joined = Date.now()
    fleet.servers.lobby.world.join('Newcomer')
    await Promise.all([
      card(fleetView.page, 'lobby').getByLabel('3 of 20 players').waitFor(),
      serverView.page.getByText('Newcomer', { exact: true }).first().waitFor(),
    ])
    console.info(`a join was shown after ${Date.now() - joined} ms`)
    fleet.servers.lobby.world.leave('Newcomer')
    await card(fleetView.page, 'lobby').getByLabel('2 of 20 players').waitFor()
  })

  it('shows a server that stops as down with the reason, first in the summary and in the title', async () => {
    const { page } = await openPage(browser)
    await page.goto(fleet.url)
    await page.locator('#connection[data-state=live]').waitFor()
    await card(page, 'skyblock').getByText('Paused', { exact: true }).waitFor()
    await fleet.servers.skyblock.close()
    await card(page, 'skyblock').getByText('connection refused').waitFor()
    await page.getByRole('list', { name: 'Servers that need attention' }).getByText('skyblock').waitFor()
    await until(async () => (await page.title()) === '(2) Tickwarden')
    expect(await page.locator('#icon').getAttribute('href')).toBe('page/icon-alert.svg')
  })

  it('shows that it reconnects while the service is unavailable, and recovers', async () => {
    let isAway = false
    const { page, problems } = await openPage(browser, { mayFail: () => isAway })
    await page.goto(fleet.url)
    await page.locator('#connection[data-state=live]').waitFor()
    // Drawn from values that are loaded after the page.
    await page.locator('#graph .lines b').first().waitFor({ state: 'attached' })
    isAway = true
    await fleet.stopService()
    await page.locator('#connection').getByText('Reconnecting').waitFor()
    await page.getByRole('alert').getByText('The service does not answer.').waitFor()
    // A tab in the background shows only its title, and lines do not continue.
    expect(await page.title()).toBe('(?) Tickwarden')
    expect(await page.locator('#icon').getAttribute('href')).toBe('page/icon-unknown.svg')
    await expect.poll(async () => new Set(await page.locator('#graph .lines b').allTextContents())).toEqual(new Set(['–']))
    // No state has its colour.
    const states = ['.badge', '.verdict', '.attention', '.reason', '.cell', '.strip']
    const filters = `${JSON.stringify(states)}.map((place) => getComputedStyle(document.querySelector(place)).filter)`
    expect(await page.evaluate(filters)).toEqual(states.map(() => 'grayscale(1)'))
    expect(await violationsOf(page)).toEqual([])
    // A page to log in, for example, is no event stream.
    let answered = 0
    await page.route('**/page/events', (route) => {
      answered++
      return route.fulfill({ contentType: 'text/html', body: 'log in' })
    })
    await page.evaluate(`globalThis.states = []
      const place = document.querySelector('#connection')
      new MutationObserver(() => states.push(place.dataset.state)).observe(place, { attributeFilter: ['data-state'] })`)
    // Without the pause before the next attempt.
    const retry = () => page.evaluate(`dispatchEvent(new Event('online'))`)
    await until(async () => {
      await retry()
      return answered > 1
    })
    expect(await page.evaluate<string[]>('states')).not.toContain('live')
    await page.unroute('**/page/events')
    await fleet.startService()
    await retry()
    await page.locator('#connection').getByText('Live').waitFor()
    await page.getByRole('alert').waitFor({ state: 'hidden' })
    isAway = false
    fleet.servers.lobby.world.join('Returner')
    await card(page, 'lobby').getByLabel('3 of 20 players').waitFor()
    expect(problems).toEqual([])
  })

  it('keeps its title while the stream is replaced, but not once the values are old', async () => {
    const service = await buildTestApp({ scripts: { a: { status: {} } } })
    const { page } = await openPage(browser, { mayFail: () => true })
    // The time of the page is only what the test advances it by.
    await page.clock.install({ time: Date.now() - 60_000 })
    await page.clock.pauseAt(Date.now())
    const [live, lost] = ['live', 'reconnecting'].map((state) => page.locator(`#connection[data-state=${state}]`))
    const tab = async () => [await page.title(), await page.locator('#icon').getAttribute('href')]
    const [known, unknown] = [
      ['Tickwarden', 'page/icon.svg'],
      ['(?) Tickwarden', 'page/icon-unknown.svg'],
    ]
    const isUnknown = async () => (await page.title()) === unknown![0]
    await page.goto(service.url)
    await advanceUntil(page, async () => (await live!.isVisible()) && (await tab())[0] === known![0])
    service.app.server.closeAllConnections()
    await lost!.waitFor()
    expect(await tab()).toEqual(known)
    expect(await page.getByRole('alert').isHidden()).toBe(true)
    await page.clock.runFor(1_000)
    await live!.waitFor()
    expect(await tab()).toEqual(known)
    // The machine was asleep, and the stream is dead: the next one is requested without waiting for the silence of this one.
    const next = new Promise<{ continue(): Promise<void> }>((requested) => page.route('**/page/events', requested))
    await page.clock.setSystemTime(Date.now() + 8 * 3_600_000)
    await page.clock.runFor(1_000)
    await lost!.waitFor()
    expect(await tab()).toEqual(unknown)
    expect(await page.getByRole('alert').textContent()).toMatch(/^These values are from .+; loading new ones\.$/)
    await page.clock.runFor(1_000)
    await (await next).continue()
    await live!.waitFor()
    expect(await tab()).toEqual(known)
    expect(await page.getByRole('alert').isHidden()).toBe(true)
    await page.route('**/page/events', (route) => route.abort())
    service.app.server.closeAllConnections()
    await advanceUntil(page, isUnknown)
    expect(await tab()).toEqual(unknown)
  })

  it.each([
    ['429', { CLIENT_STREAMS: '1' }, '/'],
    ['503', { EVENTS_LIMIT: '1' }, '/'],
    ['429', { CLIENT_STREAMS: '1' }, '/servers/a'],
  ])('polls while it is refused a stream with %s (%o), on %s, and is live once it gets one', async (_, env, path) => {
    const service = await buildTestApp({ scripts: { a: { status: { motd: 'first' } }, b: { status: {} } }, env })
    const other = await openEvents(`${service.url}/page/events`)
    let isRefused = true
    const { page, problems } = await openPage(browser, { mayFail: () => isRefused })
    await page.clock.install()
    await page.goto(service.url + path)
    await page.locator('#connection').getByText('Every 5 s').waitFor()
    const show = async (motd: string) => {
      service.fleet.scripts.a = { status: { motd } }
      await service.fleet.pollAll()
      // The reply to a page that polls is reused for some time.
      await service.clock.advance(1_000)
      const shown = page.getByText(motd, { exact: true })
      if (isRefused) await advanceUntil(page, () => shown.isVisible())
      else await shown.waitFor()
    }
    await show('second')
    expect(await page.getByRole('alert').isVisible()).toBe(false)
    expect(await page.locator('html.offline').count()).toBe(0)
    await keepPicture(page, `polling${path.replaceAll('/', '-')}`)
    const [a] = service.fleet.servers
    if (path === '/') {
      service.fleet.update([a!])
      await service.clock.advance(1_000)
      await advanceUntil(page, async () => (await card(page, 'b').count()) === 0)
    } else {
      service.fleet.update([])
      await advanceUntil(page, () => page.getByRole('alert').getByText('This server is no longer watched.').isVisible())
      service.fleet.update([a!])
      await service.fleet.pollAll()
      await advanceUntil(page, () => page.getByRole('alert').isHidden())
    }
    other.close()
    await advanceUntil(page, () => page.locator('#connection[data-state=live]').isVisible())
    isRefused = false
    await show('third')
    expect(problems).toEqual([])
  })

  it.each([
    ['fails', (route: { abort(): Promise<void> }) => route.abort()],
    ['gets no reply', () => {}],
  ])('shows that the service does not answer if polling %s too', async (_, answer) => {
    const service = await buildTestApp({ scripts: { a: { status: {} } }, env: { CLIENT_STREAMS: '1' } })
    const other = await openEvents(`${service.url}/page/events`)
    onTestFinished(() => other.close())
    const { page } = await openPage(browser, { mayFail: () => true })
    await page.clock.install()
    await page.goto(service.url)
    const polling = page.locator('#connection').getByText('Every 5 s')
    await polling.waitFor()
    await page.route('**/page/*', answer)
    await advanceUntil(page, () => page.getByRole('alert').getByText('The service does not answer.').isVisible())
    await page.unroute('**/page/*')
    await advanceUntil(page, async () => (await polling.isVisible()) && (await page.getByRole('alert').isHidden()))
  })

  it('is live for a server of any name, and shows that it is no longer watched, and that it is again', async () => {
    const name = 'A "b", c & d/é'
    const service = await buildTestApp({ scripts: { [name]: { status: { motd: 'first' } } } })
    const { page, problems } = await openPage(browser, { mayFail: () => service.fleet.servers.length === 0 })
    await page.goto(`${service.url}/servers/${encodeURIComponent(name)}`)
    await page.locator('#connection[data-state=live]').waitFor()
    service.fleet.scripts[name] = { status: { motd: 'second' } }
    await service.fleet.pollAll()
    await page.locator('#head').getByText('second', { exact: true }).waitFor()
    const { servers } = service.fleet
    service.fleet.update([])
    await page.getByRole('alert').getByText('This server is no longer watched.').waitFor()
    service.fleet.update(servers)
    await service.fleet.pollAll()
    await page.getByRole('alert').waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  it('requests nothing that a proxy should block with PAGE_PUBLIC=false', async () => {
    const script = { status: { motd: 'first', playersOnline: 1, playersMax: 20 } }
    const { url } = await buildTestApp({ scripts: { survival: script }, env: { PAGE_PUBLIC: 'false' } })
    for (const path of ['/', '/servers/survival']) {
      const { page, problems } = await openPage(browser)
      const requested: string[] = []
      page.on('request', (request) => requested.push(new URL(request.url()).pathname))
      await page.goto(url + path)
      await page.locator('#connection[data-state=live]').waitFor()
      await page.locator('.icon.letter').first().waitFor()
      expect(await page.locator('img, .snippet').count()).toBe(0)
      if (path === '/') await page.locator('#graph canvas').waitFor()
      else expect(await page.locator('canvas, .plot').count()).toBe(0)
      expect(requested).toContain('/page/events')
      expect(requested.filter((path) => path.includes('/api/'))).toEqual([])
      expect(problems).toEqual([])
    }
  })

  it('does not replace a change by a reply that was requested before it', async () => {
    const service = await buildTestApp({ scripts: { a: { status: { motd: 'first' } } } })
    const { page, problems } = await openPage(browser)
    // Requested soon after the stream is connected.
    let reply = () => {}
    const isRequested = new Promise<void>((requested) =>
      page.route('**/page/servers/a', async (route) => {
        const response = await route.fetch()
        await new Promise<void>((resolve) => {
          reply = resolve
          requested()
        })
        await route.fulfill({ response, json: { ...(await response.json()), record: { players: 4_321, at: Date.now() } } })
      }),
    )
    await page.goto(`${service.url}/servers/a`)
    await isRequested
    service.fleet.scripts.a = { status: { motd: 'second' } }
    await service.fleet.pollAll()
    const second = page.locator('#head').getByText('second', { exact: true })
    await second.waitFor()
    reply()
    await page.getByText('4,321').waitFor()
    expect(await second.isVisible()).toBe(true)
    expect(problems).toEqual([])
  })

  it('has everything in plain HTML without JavaScript', async () => {
    const { page, problems } = await openPage(browser, { script: false, width: 360 })
    await page.goto(fleet.url)
    const row = page.getByRole('row', { name: /creative/ })
    // A usual name does not break within the word.
    expect((await row.getByRole('link').boundingBox())?.height).toBeLessThan(30)
    await page.setViewportSize({ width: 1440, height: 900 })
    await row.getByText('Lagging').waitFor()
    expect(await page.getByRole('row').count()).toBe(7)
    expect(await page.locator('.controls').isVisible()).toBe(false)
    await keepPicture(page, 'plain')
    // A long name leaves the other columns their width.
    const [first] = await page.getByRole('row').getByRole('link').all()
    await first?.evaluate((link) => {
      link.textContent = 'x'.repeat(2_000)
    })
    expect((await page.getByRole('columnheader', { name: 'Latency' }).boundingBox())?.height).toBeLessThan(80)
    await row.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'creative' }).waitFor()
    // biome-ignore lint/performance/useDomNodeTextContent: only the text that is shown.
    expect(await page.locator('main').innerText()).toContain('Values as of when this page was loaded.')
    await page.getByRole('heading', { name: 'Sources' }).waitFor()
    expect(problems).toEqual([])
  })

  it('can be used with the keyboard: search, filters, and the cells of a bar', async () => {
    const { page } = await openPage(browser)
    await page.goto(fleet.url)
    await page.locator('#connection[data-state=live]').waitFor()
    const search = page.getByRole('searchbox')
    while (!(await search.evaluate<boolean, HTMLElement>((element) => element.matches(':focus'))))
      await page.keyboard.press('Tab')
    await page.keyboard.type('surv')
    await page.getByText('1 of 6 servers').waitFor()
    expect(await page.locator('article.card').count()).toBe(1)
    expect(new URL(page.url()).search).toBe('?q=surv')
    const bar = card(page, 'survival').getByRole('slider', { name: /90 days/ })
    await bar.focus()
    await page.getByRole('tooltip').getByText(/up/).waitFor()
    for (const [key, value, text] of [
      ['ArrowLeft', '88', /: not watched/],
      ['Home', '0', /: not watched/],
      ['PageUp', '7', /: not watched/],
      ['End', '89', /: .* up/],
    ] as const) {
      await page.keyboard.press(key)
      expect(await bar.getAttribute('aria-valuenow')).toBe(value)
      const shown = (await bar.getAttribute('aria-valuetext')) ?? ''
      expect(shown).toMatch(text)
      expect(await page.getByRole('tooltip').textContent()).toBe(shown)
    }
    await page.keyboard.press('Escape')
    expect(await page.getByRole('tooltip').isHidden()).toBe(true)
    await bar.locator('.cell').nth(3).click()
    expect(await bar.getAttribute('aria-valuenow')).toBe('3')
    await page.reload()
    await page.getByText('1 of 6 servers').waitFor()
  })

  it('shows groups under their names, and one of them alone', async () => {
    const { page } = await openPage(browser)
    await page.goto(fleet.url)
    await page.locator('#connection[data-state=live]').waitFor()
    const headings = () => page.locator('#cards h2').allTextContents()
    await expect.poll(headings).toEqual(['Need attention', 'Game', 'Network'])
    await page.getByLabel('Sort').selectOption('As configured')
    await expect.poll(headings).toEqual(['Game', 'Network'])
    await page.getByLabel('Group').selectOption('Network')
    await expect.poll(headings).toEqual(['Network'])
    expect(await page.locator('#cards h3').allTextContents()).toHaveLength(3)
    // The address can be shared.
    await page.reload()
    await page.locator('#connection[data-state=live]').waitFor()
    await expect.poll(headings).toEqual(['Network'])
    // A collapsed group still shows its worst state.
    const heading = page.locator('#cards summary', { hasText: 'Network' })
    await heading.click()
    expect(await page.locator('#cards h3').first().isVisible()).toBe(false)
    await heading.getByText('Down').waitFor()
    await page.getByLabel('Search').fill('nothing like this')
    await page.getByRole('button', { name: 'Show all servers' }).click()
    await expect.poll(headings).toEqual(['Game', 'Network'])
    expect(await page.locator('#cards h3').filter({ visible: true }).count()).toBe(3)
  })

  it('ends its stream while it is hidden, tells by its title, and is live again when it is shown', async () => {
    const service = await buildTestApp({ scripts: { a: { status: {} } } })
    const { page } = await openPage(browser)
    await page.clock.install()
    let graphs = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/page/graph')) graphs++
    })
    await page.goto(service.url)
    await page.locator('#connection[data-state=live]').waitFor()
    await page.locator('#graph canvas').waitFor()
    const clients = async () =>
      Number(/^tickwarden_event_clients (\d+)$/m.exec(await (await service.get('/metrics')).text())?.[1])
    // A hidden page has no frames.
    await page.evaluate('drawn = requestAnimationFrame')
    const show = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
        requestAnimationFrame = ${isHidden} ? () => 0 : drawn
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show(true)
    await advanceUntil(page, async () => (await clients()) === 0)
    service.fleet.scripts.a = { status: new SourceError('refused', 'a.test:25565: connection refused') }
    await service.fleet.pollAll()
    await service.clock.advance(1_000)
    await advanceUntil(page, async () => (await page.title()) === '(1) Tickwarden')
    // An hour later no timer runs that would load the graph.
    await page.clock.pauseAt(Date.now() + 3_600_000)
    expect(graphs).toBe(1)
    await show(false)
    await until(async () => graphs === 2)
    await page.clock.resume()
    await page.clock.fastForward(1_000)
    await until(async () => (await clients()) === 1)
    await page.locator('#connection[data-state=live]').waitFor()
  })

  it('knows the state of the servers when it is opened in the background', async () => {
    const service = await buildTestApp({ scripts: { a: { status: {} } } })
    const { page, problems } = await openPage(browser)
    await page.clock.install()
    await page.addInitScript(`Object.defineProperty(document, 'hidden', { value: true })`)
    await page.goto(service.url)
    await page.locator('#connection[data-state=polling]').waitFor({ state: 'attached' })
    await page.clock.fastForward(30_000)
    expect(await page.title()).toBe('Tickwarden')
    expect(await page.locator('#icon').getAttribute('href')).toBe('page/icon.svg')
    expect(problems).toEqual([])
  })

  it('does not call the service silent while its own scripts are loaded slowly, but soon after', async () => {
    const service = await buildTestApp({ scripts: { a: { status: {} } } })
    const { page } = await openPage(browser)
    await page.clock.install()
    let load = () => {}
    const isLoading = new Promise<void>((resolve) => {
      load = resolve
    })
    await page.route(/assets\/page-.*\.js/, async (route) => {
      await isLoading
      await route.continue()
    })
    await page.route('**/page/events', () => {})
    await page.goto(service.url, { waitUntil: 'commit' })
    await page.locator('#summary').waitFor()
    await page.clock.fastForward(20_000)
    load()
    await page.locator('#graph canvas').waitFor()
    await page.clock.fastForward(2_000)
    expect(await page.title()).toBe('Tickwarden')
    await page.clock.fastForward(10_000)
    await page.getByRole('alert').getByText('The service does not answer.').waitFor()
  })

  it('loads the finer values of a dragged period', async () => {
    const { page, problems } = await openPage(browser)
    await page.goto(`${fleet.url}/servers/survival`)
    const loaded = page.waitForResponse(/history.*range=24h/)
    await page.getByRole('button', { name: '24 hours' }).click()
    await loaded
    const area = page.locator('[data-chart=players] .u-over')
    await area.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await area.boundingBox())!
    const finer = page.waitForResponse(/history.*range=60m/)
    await page.mouse.move(x + width - 12, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width - 1, y + height / 2, { steps: 4 })
    await page.mouse.up()
    const { step } = (await (await finer).json()) as { step: number }
    expect(step).toBe(10_000)
    await page.getByRole('button', { name: 'Reset zoom' }).click()
    expect(await page.getByRole('button', { name: 'Reset zoom' }).isHidden()).toBe(true)
    expect(problems).toEqual([])
  })

  it('changes between light and dark by its switch and remembers it', async () => {
    const { page } = await openPage(browser)
    await page.goto(fleet.url)
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    await page.getByLabel('Theme').selectOption('dark')
    const dark = await ground()
    expect(dark).not.toBe(light)
    // Before the page's own script, which is loaded after the first paint.
    await page.route(/assets\/page-.*\.js/, (route) => route.abort())
    await page.reload()
    expect(await ground()).toBe(dark)
  })
})
