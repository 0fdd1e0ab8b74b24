import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { environmentOf } from '../src/config/setting.ts'
import { allSettings, settings, settingsOfServer } from '../src/config/settings.ts'

const { services } = parse(readFileSync(join(import.meta.dirname, '..', 'compose.yaml'), 'utf8')) as {
  services: { tickwarden: { environment: Record<string, string | null> } }
}

it('compose.yaml passes on every setting of a server and of its polls', () => {
  const { pollInterval, pollTimeout, staleAfter } = settings
  const names = [...settingsOfServer, pollInterval, pollTimeout, staleAfter].flatMap(environmentOf)
  expect(services.tickwarden.environment).toMatchObject(Object.fromEntries(names.map((env) => [env, null])))
})

it('compose.yaml sets nothing that there is not', () => {
  const known = allSettings.flatMap(environmentOf)
  expect(Object.keys(services.tickwarden.environment).filter((env) => !known.includes(env))).toEqual([])
})
