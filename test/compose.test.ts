import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Setting, settings } from '../src/config/settings.ts'

const { services } = parse(readFileSync(join(import.meta.dirname, '..', 'compose.yaml'), 'utf8')) as {
  services: { tickwarden: { environment: Record<string, string | null> } }
}

it('compose.yaml passes on every setting of a server and of its polls', () => {
  const ofServers = Object.values<Setting<unknown>>(settings)
    .filter(({ env }) => /^(MC|POLL|STALE)_/.test(env))
    .flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env]))
  expect(services.tickwarden.environment).toMatchObject(Object.fromEntries(ofServers.map((env) => [env, null])))
})

it('compose.yaml sets nothing that there is not', () => {
  const known = Object.values<Setting<unknown>>(settings).flatMap(({ env }) => [env, `${env}_FILE`])
  expect(Object.keys(services.tickwarden.environment).filter((env) => !known.includes(env))).toEqual([])
})
