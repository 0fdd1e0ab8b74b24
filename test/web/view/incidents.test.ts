import { expect, it } from 'vitest'
import { createFormat } from '../../../src/web/view/format.ts'
import { incidentsOfDay } from '../../../src/web/view/incidents.ts'
import { texts } from '../../../src/web/view/texts/en.ts'
import type { ShownIncident } from '../../../src/web/view/types.ts'

const at = (text: string) => Date.parse(`2026-11-${text}Z`)
const context = { texts, format: createFormat('de', 'UTC'), now: at('23T15:00:00'), root: '', title: '' }
const incident = (more: Partial<ShownIncident>): ShownIncident => ({
  ...{ kind: 'down', from: at('21T22:00:00'), to: null, ongoing: null, detail: null, notes: [] },
  ...more,
})
const told = (of: ShownIncident) => ['20', '21', '22', '23', '24'].map((day) => incidentsOfDay([of], `2026-11-${day}`, context))

it('tells an incident with every day that it touches, also while it goes on', () => {
  const later = '21.11.2026, 22:00 Down, ongoing'
  expect(told(incident({ ongoing: true }))).toEqual(['', '22:00 Down, ongoing', later, later, ''])
  const ended = '21.11.2026, 22:00 Down, for 4 Std.'
  expect(told(incident({ to: at('22T02:00:00'), ongoing: false }))).toEqual(['', '22:00 Down, for 4 Std.', ended, '', ''])
  // Its end is not known.
  expect(told(incident({}))).toEqual(['', '22:00 Down, end unknown', '', '', ''])
})
