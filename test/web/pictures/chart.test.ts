import { expect, it } from 'vitest'
import { drawChart } from '../../../src/web/pictures/chart.ts'
import { textWidth } from '../../../src/web/pictures/text.ts'
import { themes } from '../../../src/web/pictures/theme.ts'

it.each([3, 12_345, 1_234_567, 2_147_483_647])('has room for its labels, up to %d', async (value) => {
  const list = [null, value, value]
  const values = { from: 0, to: 3 * 3_600_000, step: 3_600_000, series: { players: { min: list, mean: list, max: list } } }
  const svg = await drawChart({ server: 'a', values, width: 200, height: 100, theme: themes.dark })
  const lefts = [...svg.matchAll(/<g fill="[^"]*" transform="translate\((\S+) /g)].map(([, left]) => Number(left))
  expect(lefts.length).toBeGreaterThan(4)
  expect(Math.min(...lefts)).toBeGreaterThan(0)
})

it.each([200, 300, 420, 720, 1_600])('has room between the dates of a year in %d pixels', async (width) => {
  const [day, height] = [86_400_000, 120]
  const list = Array.from({ length: 365 }, () => 1)
  const from = Date.parse('2026-01-01T00:00:00Z')
  const values = { from, to: from + 365 * day, step: day, series: { players: { min: list, mean: list, max: list } } }
  const svg = await drawChart({ server: 'a', values, width, height, theme: themes.dark })
  const starts = [...svg.matchAll(/translate\((\S+) (\S+)\)/g)]
    .filter(([, , y]) => Number(y) === height - 9)
    .map(([, x]) => Number(x))
  expect(starts.length).toBeGreaterThan(0)
  const distances = starts.slice(1).map((start, index) => start - (starts[index] ?? 0))
  expect(Math.min(...distances)).toBeGreaterThan(textWidth('2026-01-01', { size: 10, color: '' }) + 4)
})
