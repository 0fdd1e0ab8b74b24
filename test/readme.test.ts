import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Setting } from '../src/config/setting.ts'
import { settings, settingsOfServer } from '../src/config/settings.ts'

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
const named = (text: string) => [...text.matchAll(/`([a-z][\w.]*)`/gi)].map(([, name]) => name)

it('names every key of the settings file', () => {
  const [, ofServers = '', ofFile = ''] =
    /^A server takes (.*?)\. Beside `servers`, the file takes (.*?)\. A secret/ms.exec(readme) ?? []
  expect(named(ofServers).toSorted()).toEqual(
    settingsOfServer()
      .map(({ file }) => file)
      .toSorted(),
  )
  const known = Object.values<Setting<unknown>>(settings).flatMap(({ file }) => file ?? [])
  expect(named(ofFile).toSorted()).toEqual(['listen', ...known].toSorted())
})
