import { describe, expect, it } from 'vitest'
import { discovery } from '../../exporter/families/discovery.ts'
import { createExposition } from '../../exporter/family-text.ts'
import type { ListStatus } from '../../src/discovery/status.ts'

const write = createExposition(discovery)
const reloadOf = (...lists: readonly ListStatus[]) =>
  write({ poll: { interval: 5_000 }, discovery: { status: () => lists, version: 0 } }, 'prometheus')
    .split('\n')
    .filter((line) => line.startsWith('tickwarden_config_'))

const config = { provider: 'config', name: 'tickwarden.yaml', servers: 2, refused: [], readAt: 1_700_000_000_500 } as const

describe('the metrics of the configuration file', () => {
  it('say whether and when it was read', () => {
    expect(reloadOf({ ...config, state: 'ok' })).toEqual([
      'tickwarden_config_last_reload_successful 1',
      'tickwarden_config_last_reload_success_timestamp_seconds 1700000000.5',
    ])
  })

  it('keep the time of the last success while it cannot be read', () => {
    expect(reloadOf({ ...config, state: 'failed', error: 'not valid YAML' })).toEqual([
      'tickwarden_config_last_reload_successful 0',
      'tickwarden_config_last_reload_success_timestamp_seconds 1700000000.5',
    ])
  })

  it('are absent without a file, and before it has been read', () => {
    expect(reloadOf({ ...config, provider: 'file_sd', state: 'ok' })).toEqual([])
    expect(reloadOf({ provider: 'config', name: 'tickwarden.yaml', refused: [], state: 'pending' })).toEqual([])
  })
})
