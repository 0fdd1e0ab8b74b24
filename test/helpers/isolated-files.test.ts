import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isolatedFiles } from './isolated-files.ts'
import { slowPatterns } from './slow-files.ts'

const root = join(import.meta.dirname, '..', '..')

/** Modules that are mocked, and measurements of the process, which other test files in the same process would change. */
const needsIsolation =
  /\bvi\.(?:mock|doMock)\(|\b(?:memoryUsage|cpuUsage|getActiveResourcesInfo)\(|setFlagsFromString\(|\/testSource\.ts'/

const testFiles = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
  .map((path) => join('test', path))

it('the test files that mock modules or measure their process are isolated', () => {
  const found = testFiles.filter((path) => needsIsolation.test(readFileSync(join(root, path), 'utf8')))
  expect(found.sort()).toEqual([...isolatedFiles].sort())
})

it('each name in the list of slow files is that of a file', () => {
  expect(slowPatterns.filter((pattern) => !testFiles.some((path) => pattern.test(`/${path}`)))).toEqual([])
})
