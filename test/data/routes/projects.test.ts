import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataService, lastUpdate, project, snapshot, startDataService } from '../../helpers/data-service.ts'

const day = (text: string, time = '00:00:00') => Date.parse(`${text}T${time}Z`) / 1000

const all = [
  project({ title: 'Ärger', status: 'Beta', statuscolor: 'Orange', last_update: day('2024-02-29', '23:59:59') }),
  project({ title: 'Hidden', visible: false, status: 'secret', statuscolor: 'black', categories: ['x'], languages: { Rust: 1 } }),
  project({ title: 'Straße', description: 'an ärmel', categories: ['tools', 'Tools', 'tools'], last_update: day('2024-02-29') }),
  project({ title: 'c++ (new)', status: 'RELEASE', statuscolor: '', languages: { 'C++': 1, Java: 0 }, last_update: null }),
  project({ title: 'zeta', status: '', categories: [], languages: {}, last_update: day('2024-02-28', '23:59:59') }),
]
const shown = all.filter(({ visible }) => visible)

let service: DataService
beforeAll(async () => {
  service = await startDataService({ projects: snapshot(all) })
})
afterAll(() => service.close())

const titles = async (filter: string) =>
  (await service.page(`/v1/projects/filter/${filter}&limit=50&offset=0`)).results.map(({ title }) => title)

it('returns every visible project unchanged, in snapshot order', async () => {
  expect(await service.page('/v1/projects/filter/getall?limit=50&offset=0')).toEqual({ results: shown, count: 4 })
})

it('returns the last update as a bare JSON string', async () => {
  const reply = await service.get('/v1/projects/last_update')
  expect(await reply.text()).toBe(`"${lastUpdate}"`)
  expect(reply.headers.get('last-modified')).toBe('Sat, 03 Feb 2024 04:05:06 GMT')
})

describe('text filters', () => {
  it.each([
    ['title?title=%C3%A4RG', ['Ärger']],
    ['title?title=a%CC%88rger', ['Ärger']],
    ['title?title=STRA%C3%9FE', ['Straße']],
    ['title?title=STRASSE', []],
    ['title?title=%2B%2B%20(', ['c++ (new)']],
    ['title?title=.', []],
    ['title?title=Hidden', []],
    ['description?description=LIGHTS', ['Ärger', 'c++ (new)', 'zeta']],
    ['search?search=%C3%84R', ['Ärger', 'Straße']],
    ['search?search=absent', []],
    ['status?status=bEtA', ['Ärger', 'Straße']],
    ['status?status=bet', []],
    ['status?status=secret', []],
    ['statuscolor?statuscolor=ORANGE', ['Ärger', 'Straße', 'zeta']],
    ['category?category=tools', ['Ärger', 'Straße', 'c++ (new)']],
    ['category?category=Tools', ['Straße']],
    ['category?category=TOOLS', []],
    ['language?language=C%2B%2B', ['c++ (new)']],
    ['language?language=Java', ['Ärger', 'Straße', 'c++ (new)']],
    ['language?language=java', []],
    ['language?language=Rust', []],
    ['language?language=constructor', []],
  ])('%s', async (filter, expected) => {
    expect(await titles(filter)).toEqual(expected)
  })

  it.each(['title', 'description', 'search', 'status', 'statuscolor', 'category', 'language'])(
    '%s must be given exactly once, and not be empty',
    async (name) => {
      for (const query of ['', `${name}=&`, `${name}=a&${name}=b&`]) {
        const problem = await service.problem(`/v1/projects/filter/${name}?${query}limit=1&offset=0`)
        expect(problem).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
        expect(problem.detail).toContain(`"${name}"`)
      }
    },
  )
})

describe('lastupdaterange', () => {
  it.each([
    ['start=2024-02-29&end=2024-02-29', ['Ärger', 'Straße']],
    ['start=2024-2-28&end=2024-2-28', ['zeta']],
    ['start=2024-02-28&end=2024-03-01', ['Ärger', 'Straße', 'zeta']],
    ['start=0001-01-01&end=9999-12-31', ['Ärger', 'Straße', 'zeta']],
    ['start=2024-03-01&end=2024-03-01', []],
  ])('%s', async (range, expected) => {
    expect(await titles(`lastupdaterange?${range}`)).toEqual(expected)
  })
})

describe('value lists', () => {
  it.each([
    ['getstatuses', ['Beta', 'RELEASE', 'beta']],
    ['getcolors', ['Orange', 'orange']],
    ['getcategories', ['Tools', 'tools']],
    ['getlangs', ['C++', 'Java']],
  ])('%s', async (list, results) => {
    const reply = await service.get(`/v1/projects/filter/${list}`)
    expect(await reply.json()).toEqual({ results, total_results: results.length })
  })

  it('are sorted by code point, not by UTF-16 unit', async () => {
    const categories = ['\u{1F600}', '\uFF5E', 'é', 'z']
    const other = await startDataService({ projects: snapshot([project({ categories })]) })
    const reply = await other.get('/v1/projects/filter/getcategories')
    expect(await reply.json()).toEqual({ results: ['z', 'é', '\uFF5E', '\u{1F600}'], total_results: 4 })
    await other.close()
  })
})
