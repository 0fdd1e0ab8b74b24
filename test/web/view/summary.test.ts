import { expect, it } from 'vitest'
import { createFormat } from '../../../src/web/view/format.ts'
import { toHtml } from '../../../src/web/view/node.ts'
import { tabOf, totalsOf, viewSummary } from '../../../src/web/view/summary.ts'
import { texts as english } from '../../../src/web/view/texts/en.ts'
import type { PageServer, ServerState } from '../../../src/web/view/types.ts'
import { serverInState } from '../../helpers/page-servers.ts'

const now = Date.parse('2026-11-23T15:00:00Z')
const context = { texts: english, format: createFormat('de', 'UTC'), now, root: '', title: 'Servers' }
const summary = (servers: readonly PageServer[]) => toHtml(viewSummary(totalsOf(servers, context), null, now, context))
const verdict = (...servers: readonly PageServer[]) => /<h1>(.*?)<\/h1>/.exec(summary(servers))?.[1]

const fine = (count: number, state: Partial<ServerState> = {}) => Array.from({ length: count }, () => serverInState(state))
const down = (since: string | null) =>
  serverInState({ up: false, online: null }, { error: 'refused', lastContact: since === null ? null : Date.parse(since) })

it('says that all servers are fine only if the state of each is known', () => {
  expect(verdict(...fine(17))).toBe('All 17 servers are fine')
  expect(verdict(...fine(1))).toBe('The server is fine')
  expect(verdict(...fine(14), ...fine(3, { up: null }))).toBe('3 servers unknown')
  expect(verdict(...fine(1, { up: null }))).toBe('1 server unknown')
  expect(verdict()).toBe('No servers')
  expect(summary(fine(2))).toContain('No server needs attention.')
  expect(summary([...fine(2), ...fine(1, { up: null })])).not.toContain('No server needs attention.')
})

it('counts a server that rests as fine, and names planned work', () => {
  expect(verdict(...fine(1, { paused: true }), ...fine(1, { frozen: true }), ...fine(1, { up: false, asleep: true }))).toBe(
    'All 3 servers are fine',
  )
  const maintenance = { reason: '', until: now }
  expect(verdict(...fine(16), ...fine(1, { maintenance }))).toBe('16 servers are fine, 1 in maintenance')
  expect(verdict(...fine(2, { maintenance }))).toBe('2 servers in maintenance')
})

it('says since when servers are down', () => {
  const [first, second] = [down('2026-11-23T14:02:10Z'), down('2026-11-23T14:02:40Z')]
  expect(verdict(...fine(15), first, second)).toBe('2 servers down since 14:02')
  expect(verdict(first)).toBe('1 server down since 14:02')
  expect(verdict(first, down('2026-11-23T14:30:00Z'))).toBe('2 servers down, the first since 14:02')
  expect(verdict(down('2026-11-20T14:02:00Z'))).toBe('1 server down since 20.11.2026, 14:02')
  expect(verdict(down('2026-11-23T15:05:00Z'))).toBe('1 server down since 15:05')
  // Never reached since the service was started.
  expect(verdict(first, down(null))).toBe('2 servers down')
})

it('names every other trouble after the worst', () => {
  const trouble = [down(null), ...fine(2, { responsive: false }), ...fine(1, { tickRate: 10 }), ...fine(3, { up: null })]
  expect(verdict(...fine(9), ...trouble)).toBe('1 server down, 2 hung, 1 lagging, 3 unknown')
  expect(verdict(...fine(9), ...fine(1, { tickRate: 10 }))).toBe('1 server lagging')
})

it('lists a few of the servers that need attention, worst first', () => {
  const html = summary([...fine(5, { tickRate: 10 }), down(null)])
  expect([...html.matchAll(/<li class="(\w+)">/g)].map(([, name]) => name)).toEqual([
    'down',
    'lagging',
    'lagging',
    'lagging',
    'more',
  ])
  expect(html).toContain('and 2 more')
})

it('has no text beside an unknown peak, for which a narrow window has no room', () => {
  expect(summary([])).toMatch(/<b>–<\/b> <span><\/span><\/dd><\/div><\/dl>/)
})

it.each([
  ['all are up', fine(2), true, '', 'icon'],
  ['two are down', [down(null), down(null), ...fine(1)], true, '(2) ', 'icon-alert'],
  ['one is down, another unknown', [down(null), ...fine(1, { up: null })], true, '(1) ', 'icon-alert'],
  ['one is hung', fine(1, { responsive: false }), true, '', 'icon-alert'],
  ['one is unknown', [...fine(2), ...fine(1, { up: null })], true, '(?) ', 'icon-unknown'],
  ['the service does not answer', [down(null), ...fine(1)], false, '(?) ', 'icon-unknown'],
] as const)('in the tab: %s', (_, servers, isCurrent, mark, icon) =>
  expect(tabOf(totalsOf(servers, context), 'Servers', isCurrent)).toEqual({ title: `${mark}Servers`, icon }),
)
