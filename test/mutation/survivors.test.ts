import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')
const testsOf = JSON.parse(read('tests-of.json')) as Readonly<Record<string, readonly string[]>>

/** The rows of the tables of survivors.md, in which the first cell begins with the name of a part. */
const tables = read('survivors.md')
  .split(/^## /m)
  .map((section) => [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(/ *\| */)))
const partOf = ([first = '']: readonly string[]) => /^`(.+?)`/.exec(first)?.[1] ?? first
const [measured = [], unmeasured = []] = tables
const parts = measured.map(partOf)

const has = (folder: string, part: string, extension: string) =>
  existsSync(join(root, folder, part + extension)) || existsSync(join(root, folder, part))

/** Every module of which the tests have to notice changes. */
const modules = ['data/routes/filter', 'data/runs', 'data/scripts', 'game/protocol', 'game/watcher', 'notify'].flatMap((part) => {
  const folder = join(root, 'src', part)
  if (!existsSync(folder)) return part
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.ts')).map((file) => `${part}/${file.slice(0, -3)}`)
})

it('has each module either in a row of itself or its folder, or with a reason why there is none', () => {
  const isMeasured = (module: string) => parts.some((part) => module === part || module.startsWith(`${part}/`))
  expect(modules.filter((module) => !isMeasured(module)).toSorted()).toEqual(unmeasured.map(partOf).toSorted())
  for (const [name, reason] of unmeasured) expect(reason, name).toMatch(/\w/)
})

it('has rows of parts that exist, each once, with tests', () => {
  expect(parts.toSorted()).toEqual([...new Set(parts)].toSorted())
  expect(parts.filter((part) => !has('src', part, '.ts'))).toEqual([])
  expect(parts.filter((part) => !(part in testsOf || has('test', part, '.test.ts')))).toEqual([])
  expect(Object.keys(testsOf).filter((part) => !has('src', part, '.ts'))).toEqual([])
  const tests = Object.values(testsOf).flat()
  expect(tests.filter((test) => !has('test', test, '.test.ts'))).toEqual([])
})

it('has figures that agree with each other, and at least 90 % in each row', () => {
  for (const [name, , killed, survive = ''] of measured) {
    const [, survived, all] = /^(\d+) of (\d+)/.exec(survive) ?? []
    const percent = Math.round(100 * (1 - Number(survived) / Number(all)))
    expect(killed, name).toBe(`${percent} %`)
    expect(percent, name).toBeGreaterThanOrEqual(90)
  }
})
