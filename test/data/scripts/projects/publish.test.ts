import { expect, it } from 'vitest'
import type { Project } from '../../../../src/data/databases/projects.ts'
import type { Repository } from '../../../../src/data/scripts/projects/github.ts'
import type { ListedProject } from '../../../../src/data/scripts/projects/project-list.ts'
import { inOrder, isSame, keyOf, publish } from '../../../../src/data/scripts/projects/publish.ts'

const listed: ListedProject = {
  ...{ title: 'Lamp', description: 'It shines', status: 'beta', statuscolor: 'orange', categories: ['light'] },
  ...{ gh_api: 'some/Lamp', backgroud: '/lamp.png', links: { GH: 'https://example.org', WB: null }, visible: false, version: '' },
}
const repository: Repository = { languages: { Java: 1 }, notes: [], release: '2.0', lastUpdate: 200 }
const previous: Project = {
  ...{ title: 'Old', description: 'old', status: 'old', statuscolor: 'red', categories: [], languages: { C: 9 } },
  ...{ gh_api: 'some/lamp', version: '1.0', backgroud: '', links: {}, visible: true, last_update: 100 },
}
const without: Repository = { languages: {}, notes: [] }

it('is known by its repository in any letter case, else by its title', () => {
  expect(keyOf(listed)).toBe('repository some/lamp')
  expect(keyOf({ gh_api: '', title: 'some/Lamp' })).toBe('title some/Lamp')
})

it('has the fields of the list, and those of GitHub, in the order of the API', () => {
  const { version: _, ...own } = listed
  const entry = publish(listed, repository, previous)
  expect(entry).toEqual({ ...own, languages: { Java: 1 }, version: '2.0', last_update: 200 })
  expect(Object.keys(entry)).toEqual(Object.keys(previous))
})

it('has the previous values of GitHub, if it was not read', () => {
  expect(publish(listed, undefined, previous)).toMatchObject({ title: 'Lamp', languages: { C: 9 }, last_update: 100 })
  expect(publish(listed, undefined, undefined)).toMatchObject({ languages: {}, version: '---', last_update: null })
  expect(publish(listed, without, previous)).toMatchObject({ languages: {}, last_update: 100 })
  expect(publish(listed, without, undefined)).toMatchObject({ languages: {}, last_update: null })
})

it.each<[what: string, byHand: string, read: Repository | undefined, before: string | undefined, version: string]>([
  ['the latest release', '1.5', repository, '1.0', '2.0'],
  ['the list without a release', '1.5', without, '1.0', '1.5'],
  ['the previous one without either', '', without, '1.0', '1.0'],
  ['the previous one, not the placeholder of the list', '---', without, '1.0', '1.0'],
  ['nothing', '', without, undefined, '---'],
  ['nothing, as it was unknown before', '', without, '---', '---'],
  ['the previous one, if GitHub was not read', '1.5', undefined, '1.0', '1.0'],
  ['the list, if GitHub was never read', '1.5', undefined, undefined, '1.5'],
  ['the list, if it was unknown before', '1.5', undefined, '---', '1.5'],
  ['the list, if it was empty before', '1.5', undefined, '', '1.5'],
])('has the version of %s', (_what, version, read, before, expected) => {
  const old = before === undefined ? undefined : { ...previous, version: before }
  expect(publish({ ...listed, version }, read, old).version).toBe(expected)
})

it.each([
  ['1.5', '1.5'],
  ['', '---'],
  ['---', '---'],
])('has the version %j of the list alone, if it has no repository', (version, expected) => {
  expect(publish({ ...listed, gh_api: '', version }, undefined, previous).version).toBe(expected)
  expect(publish({ ...listed, gh_api: '', version }, repository, previous).version).toBe(expected)
})

it('is the same if it would be served in the same way', () => {
  const entry = publish(listed, repository, undefined)
  const served = { ...entry, links: { GH: 'https://example.org' } }
  expect(isSame(served, entry)).toBe(true)
  expect(isSame({ ...served, visible: true }, entry)).toBe(false)
  expect(isSame({ ...served, links: {} }, entry)).toBe(false)
})

it('is sorted by its last update, newest first, unknown last', () => {
  const updates = [5, null, 7, -1, null, 7, 0].map((last_update, index) => ({
    ...publish(listed, undefined, undefined),
    last_update,
    title: `${index}`,
  }))
  expect(inOrder(updates).map(({ title }) => Number(title))).toEqual([2, 5, 0, 6, 3, 1, 4])
  expect(updates.map(({ title }) => Number(title))).toEqual([0, 1, 2, 3, 4, 5, 6])
})
