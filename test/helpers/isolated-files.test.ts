import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isolatedFiles } from './isolated-files.ts'

const root = join(import.meta.dirname, '..', '..')

/** Modules that are mocked, and measurements of the process, which other test files in the same process would change. */
const needsIsolation =
  /\bvi\.(?:mock|doMock)\(|\b(?:memoryUsage|cpuUsage|getActiveResourcesInfo)\(|setFlagsFromString\(|\/testSource\.ts'/

it('the test files that mock modules or measure their process are isolated', () => {
  const found = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .map((path) => join('test', path))
    .filter((path) => needsIsolation.test(readFileSync(join(root, path), 'utf8')))
  expect(found.sort()).toEqual([...isolatedFiles].sort())
})
