import { expect, it } from 'vitest'
import { createFormat } from '../../../src/web/view/format.ts'
import { peakText } from '../../../src/web/view/graph.ts'
import { toHtml } from '../../../src/web/view/node.ts'
import { texts } from '../../../src/web/view/texts/en.ts'
import type { CardHistory, ServerDetails } from '../../../src/web/view/types.ts'
import { viewHours, viewUptime } from '../../../src/web/view/uptime.ts'

const minute = 60_000
const at = (time: string) => Date.parse(`2026-11-23T${time}Z`)
const contextAt = (now: number) => ({ texts, format: createFormat('de', 'UTC'), now, root: '', title: '' })

it('says since when the state is known, and ends the last part now', () => {
  const [to, since] = [at('13:50:00'), at('13:41:30')]
  const parts = [...Array.from({ length: 47 }, () => null), 1]
  const history = { days: [], players: [], parts, from: to - 1440 * minute, to, since }
  const html = toHtml(viewHours('survival', history, contextAt(at('13:44:00'))))
  expect(html).toContain('since 13:41')
  expect(html).toContain('13:20')
  expect(html).toContain('13:44')
  expect(html).not.toContain('to 13:50')
})

it('has the maintenance of each day in its table, if there was any', () => {
  const details = { server: { name: 'survival' }, incidents: [] } as unknown as ServerDetails
  const day = (date: string, maintenance: number) => ({ date, up: 1, known: 0.9, players: 0, maintenance })
  const tableOf = (days: readonly ReturnType<typeof day>[]) => {
    const history = { days, players: [], parts: [1], from: 0, to: minute, since: 0 } as unknown as CardHistory
    return toHtml(viewUptime(details, history, new Set(['days']), contextAt(0))).replaceAll(/<[^>]*>/g, '|')
  }
  expect(tableOf([day('2026-11-22', 0.05), day('2026-11-23', 0)])).toMatch(
    /Watched\|+In maintenance\|.*90\s?%\|+0\s?%\|.*90\s?%\|+5\s?%\|/,
  )
  expect(tableOf([day('2026-11-22', 0)])).not.toContain('In maintenance')
})

it('dates a peak of the steps that are not over before now', () => {
  const counts = { from: at('13:30:00'), step: 10 * minute, total: [null, 5], servers: [] }
  expect(peakText(counts, contextAt(at('13:42:00')))).toContain('13:41')
  expect(peakText(counts, contextAt(at('13:59:00')))).toContain('13:45')
})
