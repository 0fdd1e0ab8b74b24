import { expect, it } from 'vitest'
import { openPage, sharedBrowser, violationsOf } from '../helpers/browser.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp } from '../helpers/test-app.ts'

it.skipIf(!hasTool('chromium'))('the page stays German while it is live', async () => {
  const scripts = { lobby: { status: { playersOnline: 1_999, playersMax: 20_000 } } }
  const { url, fleet } = await buildTestApp({ scripts })
  const browser = await sharedBrowser()
  const { page, problems } = await openPage(browser, { width: 360, locale: 'de-DE' })
  await page.clock.install()
  await page.goto(url)
  await page.locator('#connection[data-state=live]').waitFor()
  await page.getByRole('heading', { name: 'Der Server läuft einwandfrei' }).waitFor()
  fleet.scripts.lobby = { status: { playersOnline: 12_345, playersMax: 20_000 } }
  await fleet.pollAll()
  await page.getByLabel('12.345 von 20.000 Spielern').waitFor({ state: 'attached' })
  const isCut = (selector: string) =>
    page.evaluate(`[...document.querySelectorAll('${selector}')].some((e) => e.scrollHeight > e.clientHeight + 1)`)
  expect([await isCut('.card'), await isCut('.lines button')]).toEqual([false, false])
  // Nor with text of twice the usual size, which the browser is set to.
  const session = await page.context().newCDPSession(page)
  const setFontSize = (standard: number) => session.send('Page.setFontSizes', { fontSizes: { standard } })
  await setFontSize(32)
  await page.setViewportSize({ width: 1440, height: 900 })
  for (const density of ['Zeilen', 'Karten']) {
    await page.getByRole('button', { name: density }).click()
    expect([await isCut('.card'), await isCut('.lines button'), await isCut('.chip')]).toEqual([false, false, false])
  }
  await page.getByRole('button', { name: 'Zeilen' }).click()
  await setFontSize(16)
  await page.setViewportSize({ width: 320, height: 900 })
  fleet.scripts.lobby = { status: { playersOnline: 1_234_567, playersMax: 2_147_483_647 } }
  await fleet.pollAll()
  await page.locator('.tile b', { hasText: '1.234.567' }).nth(1).waitFor()
  const numbers = `[...document.querySelectorAll('.tile b, .tile span, .readout')].filter((e) => e.textContent !== '')`
  expect(
    await page.evaluate(
      `${numbers}.filter((e) => e.scrollWidth > e.clientWidth || e.offsetHeight > 30).map((e) => e.textContent)`,
    ),
  ).toEqual([])
  // In a row, the players begin after what is before them.
  await page.setViewportSize({ width: 600, height: 900 })
  await page.getByRole('button', { name: 'Zeilen' }).click()
  const [place, count] = await Promise.all(
    ['.players', '.players b'].map((part) => page.locator(`article ${part}`).boundingBox()),
  )
  expect(count!.x).toBeGreaterThanOrEqual(place!.x)
  await page.setViewportSize({ width: 360, height: 900 })
  await page.clock.fastForward(8_000)
  await page
    .locator('.age')
    .getByText(/Zuletzt aktualisiert: vor \d+ Sekunden/)
    .waitFor()
  await page.getByLabel('Sortierung').selectOption({ label: 'Name' })
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await violationsOf(page)).toEqual([])
  expect(problems.splice(0)).toEqual([])
  await page.goto(`${url}/servers/lobby`)
  await page.locator('#connection[data-state=live]').waitFor()
  await page.getByText('Verfügbarkeit', { exact: true }).waitFor()
  // The words of the legend are whole.
  const linesOfLegend = `[...document.querySelectorAll('.scale, .scale span')].flatMap((e) => [...e.childNodes])
    .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
    .map((text) => { const range = new Range(); range.selectNodeContents(text); return range.getClientRects().length })`
  expect(await page.evaluate(linesOfLegend)).toEqual([1, 1, 1])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await violationsOf(page)).toEqual([])
  // Leaving the first page ends its stream.
  expect(problems.filter((problem) => !problem.includes('/page/events net::ERR_ABORTED'))).toEqual([])
})
