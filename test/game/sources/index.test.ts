import { expect, it } from 'vitest'
import { allSettings } from '../../../src/config/settings.ts'
import { fieldNames } from '../../../src/game/fields.ts'
import { sources } from '../../../src/game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../../../src/game/sources/source.ts'

const list: readonly SourceDescriptor[] = sources

it('ranks the sources of each field without a tie, and every field has one', () => {
  for (const field of fieldNames) {
    const ranks = list.flatMap(({ fields }) => fields[field] ?? [])
    expect(ranks.length, field).toBeGreaterThan(0)
    expect(new Set(ranks).size, field).toBe(ranks.length)
  }
})

it('names no source, environment variable or key of the config file twice', () => {
  const keys = list.flatMap((source) => Object.values(settingsOf(source)).map(({ file }) => file))
  for (const names of [list.map(({ name }) => name), allSettings.map(({ env }) => env), keys]) {
    expect(new Set(names).size).toBe(names.length)
  }
})

it('requires the main setting of each source, which its hint names', () => {
  for (const source of list) {
    const [main] = Object.values(settingsOf(source))
    expect(main?.required, source.name).toBe(true)
    const required = Object.values(settingsOf(source)).filter(({ required, fallback }) => required && !fallback)
    for (const { env } of required) expect(source.hints.notConfigured.split(/[ ,]+/)).toContain(env)
  }
})

it('has sources that locate a server', () => {
  expect(list.filter(({ locatesServer }) => locatesServer).map(({ name }) => name)).toEqual(['status', 'directory'])
})
