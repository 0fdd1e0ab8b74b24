import { expect, test } from 'vitest'
import { type LiveState, stateOf } from '../../src/live/state.ts'
import { type Shown, statusEmbeds } from '../../src/notify/status-embeds.ts'

const unknown = stateOf({ server: '', at: 0, fields: {}, sources: [], polls: {} })
const noDetails = { peakToday: null, uptime: null, joinedAt: () => undefined }
const shown = (name: string, state: Partial<LiveState>, group?: string): Shown => ({
  name,
  group,
  state: { ...unknown, ...state },
})
const embedOf = async (state: Partial<LiveState>, details: Parameters<typeof statusEmbeds>[1] = async () => noDetails) =>
  (await statusEmbeds([shown('a_b', state)], details))[0]
const until = 1_800_000_000_000
const maintenance = { until, reason: 'new *disk*' } as LiveState['maintenance']

test.each<[Partial<LiveState>, string, string]>([
  [{ up: true, online: 3, max: 20, tickRate: 19.96 }, '🟢 a\\_b', 'Players: 3 / 20\nTicks: 20.0 TPS'],
  [{ up: true, online: 0 }, '🟢 a\\_b', 'Players: 0'],
  [{ up: true }, '🟢 a\\_b', ''],
  [{ up: null }, '⚪ a\\_b', 'Unknown'],
  [{ up: false }, '🔴 a\\_b', 'Down'],
  [{ up: true, responsive: false, online: 1 }, '🟠 a\\_b', 'Hung\nPlayers: 1'],
  [{ up: true, responsive: true }, '🟢 a\\_b', ''],
  [{ up: false, maintenance }, '🔵 a\\_b', 'Maintenance until <t:1800000000:R> new \\*disk\\*'],
])('shows the state of a server: %j', async (state, title, description) => {
  expect(await embedOf(state)).toEqual({ title, color: expect.any(Number), description })
})

test('shows the past and the future of a server', async () => {
  const details = async () => ({
    ...{ peakToday: 0, uptime: 0.998, joinedAt: () => undefined },
    nextMaintenance: { from: until + 999, reason: 'b_ackup' },
  })
  expect((await embedOf({ up: true }, details))?.description).toBe(
    'Peak today: 0\nUptime, 30 days: 99.80 %\nNext maintenance: <t:1800000000:R> b\\_ackup',
  )
})

test.each([
  [1, '100.00 %'],
  [0.99999, '99.99 %'],
  [0.57, '57.00 %'],
  [0, '0.00 %'],
])('rounds an uptime down, so that 100 %% means never down: %d', async (uptime, expected) => {
  const embed = await embedOf({ up: true }, async () => ({ ...noDetails, uptime }))
  expect(embed?.description).toBe(`Uptime, 30 days: ${expected}`)
})

test('shows who is online, and since when if it is known', async () => {
  const players = [
    { ID: '', NAME: 'Ann_1' },
    { ID: '', NAME: 'x'.repeat(41) },
  ]
  const details = async () => ({ ...noDetails, joinedAt: (name: string) => (name === 'Ann_1' ? until : undefined) })
  expect((await embedOf({ up: true, players }, details))?.description).toBe(
    `• Ann\\_1 (joined <t:1800000000:R>)\n• ${'x'.repeat(39)}…`,
  )
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ID: '', NAME: `p${index}` }))
  const lines = async (count: number) => (await embedOf({ up: true, players: many(count) }))?.description.split('\n')
  expect([(await lines(20))?.length, (await lines(20))?.at(-1)]).toEqual([20, '• p19'])
  expect((await lines(23))?.slice(19)).toEqual(['• p19', 'and 3 more'])
})

const numbered = (count: number, state: (index: number) => Partial<LiveState> = () => ({ up: true })) =>
  Array.from({ length: count }, (_, index) => shown(`s${index}`, state(index)))

test('shows up to ten servers one by one, and more together', async () => {
  const ten = await statusEmbeds(numbered(10), async () => noDetails)
  expect(ten.map(({ title }) => title)).toEqual(numbered(10).map(({ name }) => `🟢 ${name}`))
  const eleven = await statusEmbeds(numbered(11), async () => noDetails)
  expect(eleven).toMatchObject([
    {
      title: 'Servers',
      description: numbered(11)
        .map(({ name }) => `🟢 ${name}`)
        .join('\n'),
    },
  ])
})

test('shows groups with what is known of their servers, in the colour of the worst', async () => {
  const servers = [
    shown('a', { up: true, online: 3, max: 20, tickRate: 20 }, 'eu_1'),
    shown('b', { up: true, online: 0 }),
    shown('c', { up: null }, 'eu_1'),
    shown('d', { up: true, responsive: false, tickRate: 1 }, 'us'),
  ]
  const embeds = await statusEmbeds(servers, async () => noDetails)
  expect(embeds).toMatchObject([
    { title: 'eu\\_1', description: '🟢 a · 3 / 20 · 20.0 TPS\n⚪ c' },
    { title: 'Servers', description: '🟢 b · 0' },
    { title: 'us', description: '🟠 d · 1.0 TPS' },
  ])
  const colours = async (state: Partial<LiveState>) => (await embedOf(state))?.color
  expect(embeds.map(({ color }) => color)).toEqual([
    await colours({ up: null }),
    await colours({ up: true }),
    await colours({ up: true, responsive: false }),
  ])
  const order = [{ up: true }, { up: null }, { up: false, maintenance }, { up: true, responsive: false }, { up: false }]
  for (let worst = 1; worst < order.length; worst++) {
    const group = order.slice(0, worst + 1).map((state, index) => shown(`${index}`, state, 'all'))
    expect((await statusEmbeds(group, async () => noDetails))[0]?.color).toBe(await colours(order[worst] ?? {}))
  }
})

test('leaves out what is well if there are too many, and counts it', async () => {
  const [embed] = await statusEmbeds(
    numbered(2_000, (index) => ({ up: index !== 1_999 })),
    async () => noDetails,
  )
  const lines = embed?.description.split('\n') ?? []
  expect(lines.slice(0, 3)).toEqual(['🔴 s1999', '🟢 s0', '🟢 s1'])
  expect(lines.at(-1)).toBe(`and ${2_000 - lines.length + 1} more`)
  // As many as there is room for.
  expect(embed?.description.length).toBeGreaterThan(3_850)
  // In their own order if all have room.
  const [small] = await statusEmbeds(
    numbered(11, (index) => ({ up: index !== 5 })),
    async () => noDetails,
  )
  expect(small?.description.split('\n')[5]).toBe('🔴 s5')
})

test('joins the last of more than ten groups', async () => {
  const groups = (count: number) => Array.from({ length: count }, (_, index) => shown(`s${index}`, { up: true }, `g${index}`))
  const ten = await statusEmbeds(groups(10), async () => noDetails)
  expect(ten.map(({ title }) => title)).toEqual(groups(10).map(({ group }) => group))
  const twelve = await statusEmbeds(groups(12), async () => noDetails)
  expect(twelve.map(({ title }) => title)).toEqual([...groups(9).map(({ group }) => group), '3 more groups'])
  expect(twelve.at(-1)?.description).toBe('🟢 s9\n🟢 s10\n🟢 s11')
})

test('many servers and long names stay within the limits of Discord', async () => {
  const players = Array.from({ length: 500 }, (_, index) => ({ ID: '', NAME: `*player*_${index}` }))
  const details = async () => ({ peakToday: 1, uptime: 1, joinedAt: () => 0 })
  const list = (count: number, group?: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ name: `${index} ${'_'.repeat(300)}`, group: group?.(index) },
      state: { ...unknown, up: true, online: 500, max: 500, players, tickRate: 20 },
    }))
  for (const servers of [list(1), list(10), list(11), list(2_000), list(300, (index) => `group ${index}`)]) {
    const embeds = await statusEmbeds(servers, details)
    expect(embeds.length).toBeLessThanOrEqual(10)
    expect(embeds.reduce((sum, { title, description }) => sum + title.length + description.length, 0)).toBeLessThanOrEqual(6_000)
    for (const { title, description } of embeds)
      expect(title.length <= 256 && description.length <= 4_096 && description.length > 0).toBe(true)
  }
})
