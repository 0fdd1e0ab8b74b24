import { expect, it } from 'vitest'
import { arrange, type Choice, defaultChoice } from '../../../src/web/view/arrange.ts'
import { createFormat } from '../../../src/web/view/format.ts'
import { viewHeading } from '../../../src/web/view/layout.ts'
import { toHtml } from '../../../src/web/view/node.ts'
import { texts as english } from '../../../src/web/view/texts/en.ts'
import { serverInState } from '../../helpers/page-servers.ts'

const context = { texts: english, format: createFormat('en', 'UTC'), now: 0, root: '', title: 'Servers' }
const down = { up: false, online: null }
const network = [
  serverInState({ group: 'Network' }, { name: 'lobby' }),
  serverInState({ group: 'Game', online: 9 }, { name: 'survival' }),
  serverInState({ group: 'Game', tickRate: 12, online: 4 }, { name: 'creative' }),
  serverInState({ group: null, up: null }, { name: 'build' }),
  serverInState({ group: 'Network', ...down }, { name: 'arena' }),
]
const sections = (choice: Partial<Choice> = {}, servers = network) =>
  arrange(servers, { ...defaultChoice, ...choice }, context).map(({ title, servers, all, worst }) => [
    ...[title, servers.map(({ name }) => name).join(' ')],
    ...[all, worst.name],
  ])

it('has the servers that need attention first, whatever their group, and then the groups with their worst state', () => {
  expect(sections()).toEqual([
    ['Need attention', 'arena creative', 2, 'down'],
    ['Network', 'lobby', 2, 'down'],
    ['Game', 'survival', 2, 'lagging'],
    ['Other servers', 'build', 1, 'unknown'],
  ])
})

it('sorts within the groups by anything else', () => {
  expect(sections({ sort: 'order' }).map(([title, names]) => [title, names])).toEqual([
    ['Network', 'lobby arena'],
    ['Game', 'survival creative'],
    ['Other servers', 'build'],
  ])
  expect(sections({ sort: 'name', group: 'Network' })).toEqual([['Network', 'arena lobby', 2, 'down']])
  expect(sections({ sort: 'players', group: 'Game' })).toEqual([['Game', 'survival creative', 2, 'lagging']])
})

it('finds servers by state and by each word', () => {
  expect(sections({ state: 'down' })).toEqual([['Need attention', 'arena', 1, 'down']])
  expect(sections({ search: 'GAME paper', sort: 'name' })).toEqual([['Game', 'creative survival', 2, 'lagging']])
  expect(sections({ search: 'nothing' })).toEqual([])
})

it('has one section without a title if no server has a group', () => {
  const servers = [serverInState({}, { name: 'a' }), serverInState(down, { name: 'b' })]
  expect(sections({}, servers)).toEqual([['', 'b a', 2, 'down']])
  expect(sections({}, [])).toEqual([])
})

it('has a heading that says how many servers of the group are below it, and the worst state', () => {
  const [, group] = arrange(network, defaultChoice, context)
  expect(toHtml(viewHeading(group!, context))).toMatch(
    /<h2>Network<\/h2><span>1 of 2 servers<\/span><span class="badge down">.*Down/,
  )
})
