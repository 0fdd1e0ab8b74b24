import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pages } from '../docs/src/generate.ts'
import type { Setting } from '../src/config/setting.ts'
import { settings } from '../src/config/settings.ts'
import { sources } from '../src/game/sources/index.ts'

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
const named = (text: string) => [...text.matchAll(/`([a-z][\w.]*)`/gi)].map(([, name]) => name)

it('names every key of the settings file', () => {
  const [, ofFile = ''] = /^Beside `servers`, the file takes (.*?)\. A secret/ms.exec(readme) ?? []
  const known = Object.values<Setting<unknown>>(settings).flatMap(({ file }) => file ?? [])
  expect(named(ofFile).toSorted()).toEqual(['listen', ...known].toSorted())
})

it('has a section for every source', () => {
  for (const { title } of sources) expect(readme).toContain(`\n### ${title}\n`)
})

it.each(Object.entries(pages()))('%s has the tables that the code generates: npm run docs', (path, generated) => {
  expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8')).toBe(generated)
})
