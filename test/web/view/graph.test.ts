import { expect, it } from 'vitest'
import { createFormat } from '../../../src/web/view/format.ts'
import { peakText } from '../../../src/web/view/graph.ts'
import { texts } from '../../../src/web/view/texts/en.ts'

it('says when the most players were online, with the date only if the time alone does not tell the day', () => {
  const hour = 3_600_000
  const now = Date.parse('2026-11-23T15:00:00Z')
  const context = { texts, format: createFormat('en', 'UTC'), now, root: '', title: 'Servers' }
  const text = (...total: readonly (number | null)[]) =>
    peakText({ from: now - 24 * hour, step: hour, total, servers: [] }, context)
  expect(text(...Array(23).fill(1), 7)).toBe('Highest 10-minute mean: 7, 02:30 PM')
  expect(text(7, ...Array(23).fill(1))).toBe('Highest 10-minute mean: 7, Nov 22, 2026, 3:30 PM')
  expect(text(null, null)).toBe('No player count yet')
})
