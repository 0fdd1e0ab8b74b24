import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { ServerDetails, WeekOfPlayers } from '../../src/web/view/types.ts'
import { openEvents } from '../helpers/event-client.ts'
import type { Script } from '../helpers/fake-fleet.ts'
import { buildTestApp } from '../helpers/test-app.ts'
import { until } from '../helpers/until.ts'

const html = { accept: 'text/html' }
const names = (count: number, prefix = 'Player') =>
  Array.from({ length: count }, (_, index) => ({
    name: `${prefix}${String(index).padStart(4, '0')}`,
    id: `00000000-0000-4000-8000-${(index + prefix.length * 100_000).toString(16).padStart(12, '0')}`,
  }))
const online = (players: readonly { readonly name: string }[]): Script => ({
  status: { edition: 'java', version: '1.21.11', playersOnline: players.length, players: { players, complete: true } },
})
const details = async (get: (path: string) => Promise<Response>, name = 'big') =>
  (await (await get(`/page/servers/${name}`)).json()) as ServerDetails

it('draws at most 100 of thousands of players, and finds all of them', async () => {
  const { get } = await buildTestApp({ scripts: { big: online([...names(4_998), { name: 'Zoe' }, { name: 'zOEY' }]) } })
  const page = await (await get('/servers/big', html)).text()
  const [markup = ''] = page.split('<script type="application/json"')
  const heads = markup.match(/<img class="face"[^>]*>/g) ?? []
  // Two have no known UUID.
  expect(heads).toHaveLength(98)
  for (const head of heads) expect(head).toContain('loading="lazy"')
  expect(page).toContain('and 4,900 more')
  expect(page.length).toBeLessThan(100_000)
  expect(gzipSync(page).length).toBeLessThan(16_000)
  const { server, listed } = await details(get)
  expect([server.state.players?.length, listed?.total]).toEqual([100, 5_000])
  expect(await (await get('/page/servers')).text()).not.toContain('Player0001')

  const find = async (search: string) => (await get(`/page/servers/big/players?search=${encodeURIComponent(search)}`)).json()
  expect(await find('zoe')).toEqual({
    players: [
      { ID: '', NAME: 'Zoe' },
      { ID: '', NAME: 'zOEY' },
    ],
    total: 2,
  })
  expect(await find('nobody')).toEqual({ players: [], total: 0 })
  expect(await find('(a+)+$')).toEqual({ players: [], total: 0 })
  expect(await find('x'.repeat(10_000))).toEqual({ players: [], total: 0 })
  const all = (await find('player')) as { players: object[]; total: number }
  expect([all.players.length, all.total]).toEqual([100, 4_998])
})

it('lists players without their visits if these are not recorded', async () => {
  const { get } = await buildTestApp({ scripts: { big: online(names(2)) }, env: { HISTORY_PLAYERS: 'false' } })
  expect((await details(get)).sessions).toBeNull()
  expect((await (await get('/servers/big', html)).text()).match(/<img class="face"/g)).toHaveLength(2)
})

it('searches no players that are hidden or unknown', async () => {
  const hidden = await buildTestApp({ scripts: { big: online(names(3)) }, env: { PAGE_PUBLIC: 'false' } })
  const unlisted = await buildTestApp({ scripts: { big: { status: { playersOnline: 3 } } } })
  for (const { get } of [hidden, unlisted]) {
    const reply = await get('/page/servers/big/players?search=player')
    expect(reply.status).toBe(404)
    expect(await reply.text()).not.toContain('Player0')
    expect((await details(get)).listed).toBeNull()
  }
})

it('sends who joined and left, many of them as one event, and no lists', async () => {
  const service = await buildTestApp({ scripts: { big: online(names(5_000)) } })
  const { events, text, close } = await openEvents(`${service.url}/page/events?servers=big`)
  const seen = (name: string) => events.filter(({ event }) => event === name)
  await until(() => seen('snapshot').length === 1)
  const poll = async (players: readonly { readonly name: string }[]) => {
    service.fleet.scripts.big = online(players)
    await service.fleet.pollAll()
    await service.clock.advance(1_000)
  }
  await poll([...names(4_999), { name: 'Zoe' }])
  await until(() => seen('join').length === 1)
  expect(seen('join')[0]?.data).toMatchObject({ server: 'big', player: { NAME: 'Zoe' } })
  expect(seen('leave')[0]?.data).toMatchObject({ player: { NAME: 'Player4999' } })
  await poll([...names(4_900), ...names(50, 'New')])
  await until(() => seen('players').length === 1)
  expect([seen('join').length, seen('leave').length]).toEqual([1, 1])
  expect(text()).not.toMatch(/Player0|New0/)
  expect(text().length).toBeLessThan(2_000)
  close()
})

it.each([
  ['play.example.org', 'play.example.org', undefined],
  ['play.example.org:25570', 'play.example.org:25570', undefined],
  ['[2001:db8::1]', '[2001:db8::1]', undefined],
  [
    'bedrock://play.example.org',
    'play.example.org:19132',
    'minecraft://?addExternalServer=A%20%22b%22%20%26%20c%7Cplay.example.org%3A19132',
  ],
])('shows how to join %s', async (address, shown, link) => {
  const name = 'A "b" & c'
  const service = await buildTestApp({ scripts: { [name]: { status: { playersOnline: 0 } } } })
  const { servers } = loadConfig({ env: { MC_SERVER: address, MC_NAME: name } })
  service.fleet.update(servers)
  const { join } = await details(service.get, encodeURIComponent(name))
  expect(join?.address).toBe(shown)
  const page = await (await service.get(`/servers/${encodeURIComponent(name)}`, html)).text()
  expect(page).toContain(`<code><bdi>${shown}</bdi></code>`)
  expect(/href="(minecraft:[^"]*)"/.exec(page)?.[1]).toBe(link)
})

it('has charts of what is recorded, in their final height, and a part for administrators, unless they are hidden', async () => {
  const script = { status: { playersOnline: 2, latency: 0.01 }, query: new SourceError('timeout', 'no answer') }
  for (const [env, isPublic] of [
    [{}, true],
    [{ PAGE_PUBLIC: 'false' }, false],
  ] as const) {
    const { get, clock, fleet } = await buildTestApp({ scripts: { a: script }, env })
    await clock.advance(5_000)
    await fleet.pollAll()
    const page = await (await get('/servers/a', html)).text()
    const figures = [...page.matchAll(/<figure data-chart="(\w+)"( hidden="")?>/g)].map(([, name, isHidden]) => [
      name,
      isHidden === undefined,
    ])
    expect(Object.fromEntries(figures)).toEqual(
      isPublic ? { players: true, tickTime: false, tickRate: false, latency: true } : {},
    )
    expect(page.includes('For administrators')).toBe(isPublic)
    expect(page).toContain('class="heat"')
    const { from, step, players } = (await (await get('/page/servers/a/week')).json()) as WeekOfPlayers
    expect([step, players.length, players.at(-1), players[0]]).toEqual([600_000, 1_008, 2, null])
    expect(from + players.length * step).toBeGreaterThan(clock.wall())
  }
})
