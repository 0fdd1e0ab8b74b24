import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allSettings } from '../../src/config/settings.ts'

const policy = readFileSync(join(import.meta.dirname, '..', '..', 'SECURITY.md'), 'utf8')
const [, opened = ''] = policy.split('What each setting opens')
const named = new Set([...opened.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name))

it('the security policy names settings that exist', () => {
  const known = new Set(allSettings.map(({ env }) => env))
  expect([...named].filter((name) => !known.has(name))).toEqual([])
  expect(named.size).toBeGreaterThan(40)
})

it('the security policy says what each secret opens, and each setting that reaches or admits others', () => {
  const opening = allSettings.filter(
    ({ env, ...setting }) =>
      ('secret' in setting && setting.secret === true) ||
      /^HOST$|LISTEN|PROBE|PUBLIC|PROXY$|ORIGIN|URL$|ENDPOINT$|_DIR$|DIRECTORY|SNAPSHOT|^CLIENT_|^DISCOVERY_(?!.*INTERVAL)/.test(
        env,
      ),
  )
  expect(opening.map(({ env }) => env).filter((env) => !named.has(env) && !/^MC_\w+_PROTOCOL$|MC_PROXY/.test(env))).toEqual([])
})

it('reports are private, without an address', () => {
  expect(policy).toContain('Report a vulnerability')
  expect(policy).not.toMatch(/[\w.]+@[\w.]+/)
})
