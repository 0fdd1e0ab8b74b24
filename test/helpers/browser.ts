import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

type Playwright = typeof import('../tools/node_modules/playwright-core/index.js')
export type Browser = Awaited<ReturnType<Playwright['chromium']['launch']>>
export type Page = Awaited<ReturnType<Browser['newPage']>>

const tools = createRequire(new URL('../tools/package.json', import.meta.url))

/** The first one that is installed. Chromium without a user interface, as Playwright's own, opens a page with a quarter of the CPU time. */
const programs = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const

/** Maximum milliseconds of a wait, as of `expect.poll()`: a busy machine may take long. */
const maxWaitMs = 120_000

/** Debian's Chromium, without its own network requests. */
export function launchBrowser(): Promise<Browser> {
  const { chromium } = tools('playwright-core') as Playwright
  return chromium.launch({
    executablePath: programs.find(existsSync) ?? programs[1],
    timeout: maxWaitMs,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--renderer-process-limit=1',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      // An address that is not local, without a name server.
      '--host-resolver-rules=MAP box.example 127.0.0.1',
    ],
  })
}

let shared: Promise<Browser> | undefined

/** The browser of all test files of a worker; it ends with the worker. After one that has crashed there is another. */
export function sharedBrowser(): Promise<Browser> {
  if (shared !== undefined) return shared
  const forget = () => {
    shared = undefined
  }
  shared = launchBrowser()
  shared.then((browser) => browser.once('disconnected', forget), forget)
  return shared
}

/** A new context, which ends with the test. */
export async function openContext(browser: Browser, options?: Parameters<Browser['newContext']>[0]) {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  context.setDefaultTimeout(maxWaitMs)
  return context
}

export interface OpenOptions {
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
  readonly script?: boolean
  readonly locale?: string
  /** IANA time zone; default: that of the machine. */
  readonly zone?: string
  /** Errors of the console that belong to the test. */
  readonly mayFail?: () => boolean
}

/** A page in a new context, and its errors. */
export async function openPage(
  browser: Browser,
  { width = 1440, scheme = 'light', script = true, locale = 'en-US', zone, mayFail }: OpenOptions = {},
) {
  const options = {
    viewport: { width, height: 900 },
    colorScheme: scheme,
    javaScriptEnabled: script,
    locale,
    ...(zone !== undefined && { timezoneId: zone }),
    reducedMotion: 'reduce',
  } as const
  const context = await openContext(browser, options)
  const page = await context.newPage()
  const problems: string[] = []
  const report = (text: string) => {
    if (!mayFail?.()) problems.push(text)
  }
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) report(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => report(`error: ${error.message}`))
  page.on('requestfailed', (request) => report(`failed: ${request.url()} ${request.failure()?.errorText}`))
  page.on('request', (request) => {
    if (!request.url().startsWith('http://127.0.0.1:')) report(`elsewhere: ${request.url()}`)
  })
  return { page, problems }
}

type PictureOptions = Omit<NonNullable<Parameters<Page['screenshot']>[0]>, 'path'>

/** A picture of a page; with `SHOW=1` it is also kept in test/screenshots. @param name without the extension */
export const takePicture = (page: Page, name: string, options: PictureOptions = { fullPage: true }): Promise<Buffer> =>
  page.screenshot(
    process.env.SHOW ? { ...options, path: join(import.meta.dirname, '..', 'screenshots', `${name}.png`) } : options,
  )

/** Keeps a picture of a page, to look at, with `SHOW=1`: each takes a third of a second of CPU time. */
export async function keepPicture(page: Page, name: string, options?: PictureOptions): Promise<void> {
  if (process.env.SHOW) await takePicture(page, name, options)
}

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

let axeSource: string | undefined

/** The problems that axe-core finds in a page, or in the elements of a selector. */
export async function violationsOf(page: Page, selector = 'html'): Promise<string[]> {
  // Past the content security policy of the page, which allows no inline script.
  if (!(await page.evaluate('"axe" in window'))) {
    axeSource ??= readFileSync(tools.resolve('axe-core/axe.min.js'), 'utf8')
    await page.evaluate(axeSource)
  }
  // Half as long as with the elements that have no problem.
  const options = "{ resultTypes: ['violations'], selectors: false }"
  const found = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify(selector)}, ${options}).then(({ violations }) => violations)`,
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`)
}
