import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generatePages } from '../../docs/src/generate.ts'
import { sources } from '../../src/game/sources/index.ts'
import { pagePaths, readPage } from './markdown.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

it('the pages have the parts that the code generates: npm run docs', async () => {
  for (const [path, generated] of Object.entries(await generatePages())) expect(read(path), path).toBe(generated)
})

it('the page of sources has a section for each', () => {
  for (const { title } of sources) expect(read('docs/sources.md')).toContain(`\n## ${title}\n`)
})

it('the README is short', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(130)
})

// Tables and blocks cannot be wrapped.
it.each(pagePaths)('%s has no long line', (path) => {
  const inBlocks = new Set(readPage(path).blocks.flatMap(({ text }) => text.split('\n')))
  const long = read(path)
    .split('\n')
    .filter((line) => line.length > 160 && (path === 'README.md' || (!line.startsWith('|') && !inBlocks.has(line))))
  expect(long).toEqual([])
})
