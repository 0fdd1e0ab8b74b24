import { expect, it } from 'vitest'
import { openContext, sharedBrowser, violationsOf } from '../helpers/browser.ts'
import { exampleServer } from '../helpers/example-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { buildTestApp } from '../helpers/test-app.ts'

it.skipIf(!hasTool('chromium'))('/docs shows every route in a browser, even if the address is not local', async () => {
  const { url } = await buildTestApp({ scripts: { Server: exampleServer } })
  const context = await openContext(await sharedBrowser())
  const page = await context.newPage()
  const strange: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith('http://box.example:') && !request.url().startsWith('data:')) strange.push(request.url())
  })
  const problems: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', ({ message }) => problems.push(message))
  await page.goto(`${url.replace('127.0.0.1', 'box.example')}/docs`)
  await page.getByText('/api/v1/getall', { exact: true }).waitFor()
  await page.getByText('/metrics', { exact: true }).waitFor()
  await page.getByText('/api/v1/servername', { exact: true }).click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table').getByText('"Server"').first().waitFor()
  await page.locator('.models button').first().click()
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const light = await ground()
  expect(await violationsOf(page)).toEqual([])
  await page.getByLabel('Theme').selectOption('dark')
  const dark = await ground()
  expect(dark).not.toBe(light)
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByRole('button', { name: 'Close' }).first().waitFor()
  expect(await violationsOf(page, '.dialog-ux, .top, .info, #operations-metrics-getMetrics')).toEqual([])
  expect([await page.title(), await page.locator('link[rel=icon]').getAttribute('href')]).toEqual([
    ...['Tickwarden API', 'page/icon.svg'],
  ])
  // The theme is that of the other pages, before anything is drawn.
  await page.route(/assets\/docs-.*\.js/, (route) => route.abort())
  await page.reload()
  expect(await ground()).toBe(dark)
  problems.splice(0)
  await page.unrouteAll()
  await page.goto(`${url.replace('127.0.0.1', 'box.example')}/docs/`)
  await page.getByRole('link', { name: 'All servers' }).click()
  await page.locator('article.card').first().waitFor()
  expect(await ground()).toBe(dark)
  expect(strange).toEqual([])
  expect(problems).toEqual([])
})
