import { describe, expect, it } from 'vitest'
import { parseTextRuns } from '../../../src/game/protocol/text-runs.ts'
import { drawBanner } from '../../../src/web/pictures/banner.ts'
import type { Summary } from '../../../src/web/pictures/summary.ts'
import { themes } from '../../../src/web/pictures/theme.ts'
import { viewMotd } from '../../../src/web/view/motd.ts'
import { toHtml, type ViewElement } from '../../../src/web/view/node.ts'

const unknownSummary: Summary = {
  ...{ server: 'Server', up: true, status: 'Online', shortStatus: 'online', players: null, tickRate: null, tickRateTarget: 20 },
  ...{ isPaused: false, isFrozen: false, version: null, software: null, motd: null, formattedMotd: null },
}

describe('a message of thousands of pieces', () => {
  const letters = ['\u200b', '\u0301', 'x']
  const colors = Array.from({ length: 8_000 }, (_, index) => `§#${(index * 997).toString(16).padStart(6, '0')}`)

  it.each(letters)('is cut to 200 pieces: %j', async (letter) => {
    const motd = colors.map((color) => `${color}${letter}`).join('')
    expect(parseTextRuns(motd)).toHaveLength(200)
    const summary = { ...unknownSummary, motd }
    const svg = await drawBanner(summary, Buffer.alloc(0), 1200, themes.dark)
    const plain = await drawBanner({ ...summary, motd: '' }, Buffer.alloc(0), 1200, themes.dark)
    expect(svg.match(/<g /g)!.length).toBeLessThanOrEqual(plain.match(/<g /g)!.length + 200)
    expect(svg.length).toBeLessThan(plain.length + 200_000)
  })

  it('draws a bounded number of characters, even of those without a width', async () => {
    const motd = Array.from({ length: 100 }, (_, index) => `§${(index % 16).toString(16)}${'\u0301'.repeat(80)}`).join('')
    const svg = await drawBanner({ ...unknownSummary, motd }, Buffer.alloc(0), 1200, themes.dark)
    expect(svg.match(/<path /g)!.length).toBeLessThan(1_000)
  })

  it('keeps its colours on the page', () => {
    const motd = colors.map((color) => `${color}x`).join('')
    const view = viewMotd({ formattedMotd: motd, motd: 'x'.repeat(8_000) } as never)!
    const html = toHtml(view)
    expect(html.match(/<span/g)!.length).toBeLessThanOrEqual(200)
    const [line] = view.children as readonly ViewElement[]
    const [first] = line!.children as readonly ViewElement[]
    expect(first!.attributes.style).toBeDefined()
  })
})
it('has the message in its colours, but not another message with colours', async () => {
  const draw = (formattedMotd: string | null) =>
    drawBanner({ ...unknownSummary, motd: 'Mine', formattedMotd }, Buffer.alloc(0), 600, themes.dark)
  const plain = await draw(null)
  expect(await draw('§aMine')).not.toBe(plain)
  // The message was read without invisible characters.
  expect(await draw('§a\u202bMine\u0001')).toBe(await draw('§aMine'))
  expect(await draw('§aOther')).toBe(plain)
})
it('shows the letters after any number of marks, and a sign for an invisible name', async () => {
  const draw = (server: string) => drawBanner({ ...unknownSummary, server }, Buffer.alloc(0), 600, themes.dark)
  const marks = '\u0301\u0316\u0327'
  expect(await draw(`x${marks.repeat(300)}algo`)).toBe(await draw(`x${`${marks}${marks}${marks}`.slice(0, 8)}algo`))
  expect(await draw('\u200b\u2060')).toBe(await draw('\ufffd'))
})
it('has the address and digits in groups', async () => {
  const draw = (players: string, address?: string) =>
    drawBanner({ ...unknownSummary, players }, Buffer.alloc(0), 600, themes.dark, address)
  const count = (svg: string) => svg.match(/<path transform/g)!.length
  expect(count(await draw('12345/20000')) - count(await draw('1234/2000'))).toBe(2)
  expect(count(await draw('999/999')) - count(await draw('99/99'))).toBe(2)
  expect(count(await draw('1000')) - count(await draw('999'))).toBe(2)
  expect(count(await draw('1', 'play.example.org')) - count(await draw('1'))).toBe('play.example.org'.length)
})
it.each(['3/20', '12345/20000', '1234567/2147483647'])('has the whole name beside %s, even if it is narrow', async (players) => {
  const draw = async (server: string) => {
    const svg = await drawBanner({ ...unknownSummary, server, players }, Buffer.alloc(0), 300, themes.dark)
    return svg.match(/<path transform/g)!.length
  }
  expect((await draw('big numbers')) - (await draw('i'))).toBe('bignumbers'.length - 1)
})
