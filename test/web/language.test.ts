import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { fieldNames } from '../../src/game/fields.ts'
import { readNames } from '../../src/web/assets.ts'
import { languageOf } from '../../src/web/language.ts'
import { createFormat } from '../../src/web/view/format.ts'
import { type Language, languageNames, textsOf } from '../../src/web/view/texts.ts'
import type { ServerDetails } from '../../src/web/view/types.ts'
import { buildTestApp } from '../helpers/test-app.ts'

/** The texts by their path, each function called with sample arguments. */
function allTexts(of: object, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(of).flatMap(([name, value]) => {
    if (typeof value === 'object') return allTexts(value, `${path}${name}.`)
    if (typeof value !== 'function') return [[path + name, value] as const]
    const count = (form: string) => ({ text: `<${form}>`, form, toString: () => `<${form}>` })
    const first = name === 'state' ? 'hung' : undefined
    return ['one', 'few', 'other'].map((form) => [
      `${path}${name}(${form})`,
      String(value(...Array.from({ length: value.length }, (_, index) => (index === 0 && first) || count(form)))),
    ])
  })
}

describe.each(languageNames)('the texts in %s', (language) => {
  const { texts, fields } = textsOf(language)
  const english = textsOf('en').texts

  it('are complete', () => {
    const found = allTexts(texts)
    expect(found.map(([path]) => path).sort()).toEqual(
      allTexts(english)
        .map(([path]) => path)
        .sort(),
    )
    for (const [path, text] of found) {
      if (!path.endsWith('units.players')) expect(text, path).toMatch(/\S/)
      expect(text, path).not.toMatch(/undefined|\[object|NaN/)
    }
    if (fields !== undefined) expect(Object.keys(fields).sort()).toEqual([...fieldNames].sort())
    expect(texts.language).toBe(language)
  })
})

it('is not served without the scripts of the page in it', () => {
  expect(() => readNames('tlh' as Language)).toThrow('run "npm run build"')
})

it('counts in German with the form that belongs to the number', () => {
  const { texts } = textsOf('de')
  const { count } = createFormat('de')
  expect([1, 2].map((number) => texts.server.otherPlayers(count(number)))).toEqual(['und 1 weiterer', 'und 2 weitere'])
  expect([1, 2].map((number) => texts.summary.more(count(number)))).toEqual(['und 1 weiterer', 'und 2 weitere'])
  expect([1, 2].map((number) => texts.controls.shown('0', count(number)))).toEqual(['0 von 1 Server', '0 von 2 Servern'])
})

it('has a file for each language', () => {
  const folder = join(import.meta.dirname, '..', '..', 'src', 'web', 'view', 'texts')
  expect(readdirSync(folder).sort()).toEqual(languageNames.map((name) => `${name}.ts`).sort())
})

describe('the language of a page', () => {
  const chosen = (header: string | undefined) => languageOf({ 'accept-language': header }, undefined)

  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['de-CH,de;q=0.9,en;q=0.8', 'de'],
    ['tlh,de;q=0.5,en;q=0.4', 'de'],
    ['en;q=0.3,de;q=0.7', 'de'],
    ['en-GB,en;q=0.9,de;q=0.8', 'en'],
    ['de;q=0', 'en'],
    ['en;q=0,*', 'de'],
    ['tlh,vo', 'en'],
    ['*', 'en'],
    ['german', 'en'],
    ['__proto__,constructor;q=0.9', 'en'],
    ['de;q=abc,;;,,=;q=', 'en'],
  ])('for Accept-Language %j is %s', (header, language) => {
    expect(chosen(header)).toBe(language)
  })

  it('is found in time for long headers', () => {
    // As long as the headers of a request may be.
    for (const part of ['x,', 'a-b;q=0.1,', ';q=', ' ', '-', 'xx-'.repeat(20)]) {
      const header = part.repeat(16_384 / part.length)
      expect(chosen(`${header},de;q=1`)).toMatch(/^(de|en)$/)
    }
  })

  it('is that of the setting before that of the browser', () => {
    expect(languageOf({ 'accept-language': 'de' }, 'en')).toBe('en')
  })
})

const scripts = {
  gone: { status: new SourceError('refused', 'connect ECONNREFUSED 192.0.2.1:25565') },
  big: { status: { playersOnline: 12_345 } },
}
const accept = 'text/html'

describe('a German page', () => {
  it('is German from the title to the reasons', async () => {
    const { get } = await buildTestApp({ scripts })
    const reply = await get('/', { accept, 'accept-language': 'de-AT,en;q=0.5' })
    expect(reply.headers.get('content-language')).toBe('de')
    expect(reply.headers.get('vary')).toContain('Accept-Language')
    const page = await reply.text()
    expect(page).toContain('<html lang="de"')
    for (const text of ['1 Server ausgefallen', 'Verbindung abgelehnt', '12.345', 'Spieler online', 'Probleme zuerst'])
      expect(page).toContain(text)
    const [shown = ''] = page.split('<script type="application/json"')
    for (const text of ['connection refused', 'Players', 'Search', 'Need attention']) expect(shown).not.toContain(text)

    const english = await (await get('/', { accept, 'accept-language': 'en' })).text()
    expect(english).toContain('<html lang="en"')
    expect(english).toContain('12,345')
    expect(english).toContain('connection refused')
    const script = /src="(page\/assets\/page-\w+\.js)"/
    const [own, other] = [script.exec(page)?.[1], script.exec(english)?.[1]]
    expect(own).not.toBe(other)
    const [ownTexts, otherTexts] = await Promise.all([own, other].map(async (path) => (await get(`/${path}`)).text()))
    expect([ownTexts?.includes('Störungen') || ownTexts?.includes('Höchststand'), ownTexts?.includes('Players online')]).toEqual([
      true,
      false,
    ])
    expect([otherTexts?.includes('Höchststand'), otherTexts?.includes('Players online')]).toEqual([false, true])
  })

  it('has the same language on the pages of servers, the missing ones and /docs', async () => {
    const { get } = await buildTestApp({ scripts })
    const german = { accept, 'accept-language': 'de' }
    const server = await (await get('/servers/gone', german)).text()
    expect(server).toContain('Verbindung abgelehnt (connect ECONNREFUSED')
    expect(server).toContain('content="Ausgefallen"')
    expect(server).toContain('Mit enable-query=true und MC_QUERY siehst du')
    const [hints] = /<ul class="hints">.*?<\/ul>/.exec(server) ?? []
    expect(hints).not.toMatch(/ (and|or|the|of|is|with) |'s /)
    const unlimited = await (await get('/servers/big', german)).text()
    expect(unlimited).toContain('content="Online · 12.345 Spieler')
    expect(await (await get('/', german)).text()).toContain('aria-label="12.345 Spieler"')
    const missing = await get('/servers/typo', german)
    expect([missing.status, missing.headers.get('content-language')]).toEqual([404, 'de'])
    expect(await missing.text()).toContain('„typo“')
    const docs = await get('/docs', german)
    expect(docs.headers.get('vary')).toContain('Accept-Language')
    expect(await docs.text()).toContain('Alle Server')
    const details = (await (await get('/page/servers/gone', german)).json()) as ServerDetails
    const inEnglish = (await (await get('/page/servers/gone')).json()) as ServerDetails
    expect(details.hints?.flatMap(({ gives }) => gives)).toContain('die Spielversion')
    expect(inEnglish.hints?.flatMap(({ gives }) => gives)).toContain('the game version')
    // Its address is set, but the connection is refused.
    expect(inEnglish.hints?.map(({ source }) => source)).not.toContain('Status')
    expect((await (await get('/api/v1/nothing', german)).json()).title).not.toMatch(/nicht/)
  })

  it('is the only one with PAGE_LANGUAGE', async () => {
    const { get } = await buildTestApp({ scripts, env: { PAGE_LANGUAGE: 'de' } })
    for (const language of ['en', 'tlh', ''])
      expect(await (await get('/', { accept, 'accept-language': language })).text()).toContain('<html lang="de"')
  })

  it('says numbers with their plural', () => {
    const { texts } = textsOf('de')
    const { count, duration, relative } = createFormat('de', 'UTC')
    expect(texts.verdict.servers(count(1), texts.verdict.state('hung', count(1)))).toBe('1 Server hängt')
    expect(texts.verdict.servers(count(1_234), texts.verdict.state('hung', count(1_234)))).toBe('1.234 Server hängen')
    expect(texts.verdict.fine(count(1))).toBe('Der Server läuft einwandfrei')
    expect([duration(3_900_000), relative(0, 120_000)]).toEqual(['1 Std. 5 Min.', 'vor 2 Minuten'])
  })
})
