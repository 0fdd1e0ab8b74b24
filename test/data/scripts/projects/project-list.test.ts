import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { projectListPath, readProjectList } from '../../../../src/data/scripts/projects/project-list.ts'
import { scriptSettings } from '../../../../src/data/scripts/script.ts'

function read(value: unknown) {
  const { projects, problems } = readProjectList(JSON.stringify(value), 'my.json')
  expect(problems).toEqual([])
  return projects
}
const problemsIn = (text: string) => readProjectList(text, 'my.json').problems
const problemsOf = (value: unknown) => problemsIn(JSON.stringify(value))

const lamp = {
  ...{ title: 'Lamp', description: 'It shines', status: 'beta', statuscolor: 'orange', categories: ['light'] },
  ...{ gh_api: 'some.one/la_mp-2', backgroud: '/lamp.png', links: { GH: 'https://example.org', WB: null } },
  ...{ visible: false, version: '1.2' },
}
const fields = 'expected one of: title, description, status, statuscolor, categories, gh_api, backgroud, links, visible, version'

it('is in DATA_DIR, unless PROJECTS_CONFIG names another file', () => {
  const settings = (env: Record<string, string>) => scriptSettings(loadConfig({ env }))
  expect(projectListPath(settings({}), '/data')).toBe(join('/data', 'projects.config.json'))
  expect(projectListPath(settings({ PROJECTS_CONFIG: '/lists/a.json' }), '/data')).toBe('/lists/a.json')
  expect(projectListPath(settings({ PROJECTS_CONFIG: 'a.json' }), '/data')).toBe(resolve('a.json'))
})

it('keeps what is listed, and adds the defaults of what is not', () => {
  const plain = {
    ...{ title: 'Plain', description: '', status: '', statuscolor: '', categories: [], gh_api: '', backgroud: '', links: {} },
    ...{ visible: true, version: '' },
  }
  const [first, second, third] = read([lamp, { title: 'Plain' }, { title: 'Plain' }])
  expect([first, second, third]).toEqual([lamp, plain, plain])
  expect(second?.links).not.toBe(third?.links)
  expect(read([])).toEqual([])
})

it('accepts the fields that a published file adds', () => {
  expect(read([{ ...lamp, languages: { Java: 1 }, last_update: 5, updated: 'x' }])).toMatchObject([lamp])
  expect(problemsOf([{ ...lamp, language: {}, update: 1 }])).toEqual([
    `my.json: [0].language: unknown field; ${fields}`,
    `my.json: [0].update: unknown field; ${fields}`,
  ])
})

it.each([
  [{ title: '' }],
  [{ title: ' \t' }],
  [{ title: null }],
  [{ title: '', gh_api: '' }],
  [{ title: null, gh_api: null }],
  [{ title: '', categories: 7, visible: '', colour: 'red' }],
])('leaves out the blank template %j, and counts it', (blank) => {
  expect(read([blank, lamp, blank])).toEqual([lamp])
  expect(problemsOf([blank, { ...lamp, visible: 1 }])).toEqual(['my.json: [1].visible is 1; expected true or false'])
})

it.each([
  [{}, ['title is missing; expected a string']],
  [{ description: 'x' }, ['title is missing; expected a string']],
  [{ title: 0 }, ['title is 0; expected a string']],
  [{ title: [] }, ['title is []; expected a string']],
  [{ title: null, gh_api: 'a/b' }, ['title is null; expected a string']],
  [{ title: '', gh_api: 0 }, ['gh_api is 0; expected <owner>/<repository>, or empty']],
  [{ title: 'a', gh_api: null }, ['gh_api is null; expected <owner>/<repository>, or empty']],
  [{ title: 'a', gh_api: 'a/b/c' }, ['gh_api is "a/b/c"; expected <owner>/<repository>, or empty']],
  [{ title: 'a', description: 1 }, ['description is 1; expected a string']],
  [{ title: 'a', status: {} }, ['status is {}; expected a string']],
  [{ title: 'a', statuscolor: true }, ['statuscolor is true; expected a string']],
  [{ title: 'a', backgroud: null }, ['backgroud is null; expected a string']],
  [{ title: 'a', version: 1.2 }, ['version is 1.2; expected a string']],
  [{ title: 'a', categories: [1] }, ['categories is [1]; expected a list of strings']],
  [{ title: 'a', links: { GH: 1 } }, ['links is {"GH":1}; expected names with URLs, such as {"GH": "https://..."}']],
  [{ title: 'a', visible: 'yes' }, ['visible is "yes"; expected true or false']],
])('rejects %j', (entry, problems) => {
  expect(problemsOf([entry])).toEqual(problems.map((problem) => `my.json: [0].${problem}`))
})

it('does not leave out a project with a repository, or without a title as a field', () => {
  expect(read([{ title: '', gh_api: 'a/b' }])).toMatchObject([{ title: '', gh_api: 'a/b' }])
  expect(problemsOf([{ gh_api: '' }])).toEqual(['my.json: [0].title is missing; expected a string'])
})

it.each([
  [7, '7'],
  [null, 'null'],
  ['x', '"x"'],
  [[], '[]'],
])('rejects the entry %j, and reads on', (entry, shown) => {
  expect(problemsOf([lamp, entry, { title: 1 }])).toEqual([
    `my.json: [1] is ${shown}; expected a project`,
    'my.json: [2].title is 1; expected a string',
  ])
})

it('shows 60 characters of a long value', () => {
  const [value, longer] = ['x'.repeat(58), 'x'.repeat(59)]
  expect(problemsOf([value])).toEqual([`my.json: [0] is "${value}"; expected a project`])
  expect(problemsOf([longer])).toEqual([`my.json: [0] is "${longer}...; expected a project`])
})

it('expects each repository once, in any letter case', () => {
  const entries = ['A/b', 'c/d', 'a/B', '', 'a/b', ''].map((gh_api) => ({ title: 'x', gh_api }))
  expect(problemsOf(entries)).toEqual([
    'my.json: [2].gh_api is "a/B", the same as [0]; expected each repository once',
    'my.json: [4].gh_api is "a/b", the same as [0]; expected each repository once',
  ])
  expect(read(entries.slice(0, 2))).toHaveLength(2)
})

it.each([
  ['{}', 'my.json is {}; expected an array of projects'],
  ['null', 'my.json is null; expected an array of projects'],
  [`${'['.repeat(600)}${']'.repeat(600)}`, 'my.json is nested deeper than 512 levels'],
])('rejects %s', (text, message) => {
  expect(problemsIn(text)).toEqual([message])
})

it('says where a text is not JSON', () => {
  expect(problemsIn('[{"title": x}]')).toEqual([expect.stringMatching(/^my\.json is not valid JSON: .*"?x/)])
})
