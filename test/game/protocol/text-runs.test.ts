import { describe, expect, it } from 'vitest'
import { maxTextRuns, parseTextRuns, type TextRun } from '../../../src/game/protocol/text-runs.ts'

const run = (text: string, color?: string, formats = ''): TextRun => ({ text, formats, ...(color !== undefined && { color }) })

describe('the pieces of a text', () => {
  it.each<[string, readonly TextRun[]]>([
    ['', []],
    ['plain\ntext', [run('plain\ntext')]],
    ['§aGreen', [run('Green', 'a')]],
    ['a§AGreen§r rest', [run('a'), run('Green', 'a'), run(' rest')]],
    ['§0§f§9x', [run('x', '9')]],
    ['§lbold §oboth', [run('bold ', undefined, 'l'), run('both', undefined, 'lo')]],
    ['§l§l§K§mx', [run('x', undefined, 'lkm')]],
    // A colour resets the formats.
    ['§n§cx', [run('x', 'c')]],
    ['§n§#12AB34x', [run('x', '#12ab34')]],
    ['§n§x§1§2§A§b§3§4x', [run('x', '#12ab34')]],
    ['§n§gx', [run('x', '#ddd605')]],
    ['§n§rx', [run('x')]],
    // Not codes: of the Bedrock edition but unknown, half of a code, and none.
    ['§l§zx', [run('x', undefined, 'l')]],
    ['§#12AB3x', [run('12AB3x')]],
    ['§x§1§2§3x', [run('x', '3')]],
    ['end§', [run('end')]],
    ['§\nx', [run('\nx')]],
    ['§§x', [run('x')]],
  ])('of %j', (text, runs) => expect(parseTextRuns(text)).toEqual(runs))

  it.each(
    Object.entries({ h: 'e3d4d1', i: 'cecaca', j: '443a3b', p: 'deb12d', q: '47a036', s: '2cbaa8', t: '21497b', u: '9a5cc6' }),
  )('with the colour %s of the Bedrock edition', (letter, color) =>
    expect(parseTextRuns(`§${letter}x`)).toEqual([run('x', `#${color}`)]),
  )

  it('are limited', () => {
    const letters = (count: number) => '§ax§by'.repeat(count / 2)
    expect(parseTextRuns(letters(maxTextRuns))).toHaveLength(maxTextRuns)
    expect(parseTextRuns(`${letters(maxTextRuns)}§cz`)).toHaveLength(maxTextRuns)
    expect(parseTextRuns(letters(maxTextRuns - 2)).at(-1)).toEqual(run('y', 'b'))
  })
})
