import { expect, it } from 'vitest'
import { drawChart } from '../../../src/web/pictures/chart.ts'
import { themes } from '../../../src/web/pictures/theme.ts'

it.each([3, 12_345, 1_234_567, 2_147_483_647])('has room for its labels, up to %d', async (value) => {
  const list = [null, value, value]
  const values = { from: 0, to: 3 * 3_600_000, step: 3_600_000, series: { players: { min: list, mean: list, max: list } } }
  const svg = await drawChart({ server: 'a', values, width: 200, height: 100, theme: themes.dark })
  const lefts = [...svg.matchAll(/<g fill="[^"]*" transform="translate\((\S+) /g)].map(([, left]) => Number(left))
  expect(lefts.length).toBeGreaterThan(4)
  expect(Math.min(...lefts)).toBeGreaterThan(0)
})
