import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { providerTable } from '../../docs/src/tables.ts'
import { settingsHelp } from '../../src/commands/settings-help.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startDiscovering, temporaryFolder } from '../helpers/discovering-service.ts'

// The toy is only added to the list, like any provider.
vi.mock('../../src/discovery/index.ts', async (original) => {
  const { providers } = await original<typeof import('../../src/discovery/index.ts')>()
  const { toyProvider } = await import('../helpers/toy-provider.ts')
  return { providers: [...providers, toyProvider] }
})

it('provides settings, servers, status and metrics from its module alone', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'token'), 'right')
  const yaml = `discovery: { toy: "alpha, beta", toyTokenFile: ${join(folder, 'token')} }`
  const service = await startDiscovering({ folder, yaml })
  expect(await service.names()).toEqual(['alpha', 'beta'])
  expect((await service.lists())[1]).toMatchObject({ provider: 'toy', list: 'toy box', state: 'ok', servers: 2 })
  expect(await (await service.get('/metrics')).text()).toContain('tickwarden_discovery_servers{provider="toy"} 2\n')
  await service.reload()
  expect(await service.names()).toEqual(['alpha', 'beta', 'reloaded'])
})

it('is off without its main setting', async () => {
  const service = await startDiscovering({ env: { DISCOVERY_TOY_TOKEN: 'right', MC_SERVER: '127.0.0.1:1' } })
  expect((await service.lists()).map(({ provider }) => provider)).not.toContain('toy')
})

it('has its settings checked, and in --help and the docs', () => {
  expect(() => loadConfig({ env: { DISCOVERY_TOY: 'a/b' } })).toThrow(/DISCOVERY_TOY is "a\/b"; expected a comma-separated list/)
  expect(() => loadConfig({ env: { DISCOVERY_TOI: 'a' } })).toThrow(/did you mean DISCOVERY_TOY\?/)
  expect(settingsHelp()).toMatch(/DISCOVERY_TOY +names of toys/)
  expect(providerTable()).toMatch(/^\| toys +\| `DISCOVERY_TOY` +\| `discovery\.toy` +\| Each toy is a server\. +\|$/m)
})
