import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { hasTool } from '../helpers/require-tool.ts'

const root = join(import.meta.dirname, '..', '..')
const rules = join(root, 'grafana', 'alerts', 'tickwarden.rules.yaml')
const promtool = (...args: readonly string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })

describe('the alert rules', () => {
  const { groups } = parse(readFileSync(rules, 'utf8')) as {
    groups: { rules: { alert?: string; annotations?: Record<string, string> }[] }[]
  }
  const all = groups.flatMap((group) => group.rules)
  const alerts = all.filter(({ alert }) => alert !== undefined)
  const readme = readFileSync(join(root, 'README.md'), 'utf8').replaceAll(/\s+/g, ' ')

  it('are the documented ones, each with summary, description and what to do', () => {
    expect(alerts.map(({ alert }) => alert)).toEqual([
      'ServerDown',
      'ServerLagging',
      'TickTimeHigh',
      'ServerFull',
      'SourceFailing',
      'SnapshotFailing',
      'SnapshotStale',
      'ScriptFailing',
      'ScriptAuthorisationExpiring',
    ])
    for (const { annotations } of alerts) expect(Object.keys(annotations ?? {})).toEqual(['summary', 'description', 'action'])
  })

  it('are those of the README, with as many recorded series', () => {
    expect(readme).toContain(`${alerts.map(({ alert }) => alert).join(', ')}; each says what to do.`)
    const numbers = ['no', 'one', 'two', 'three', 'four', 'five']
    expect(readme).toContain(`which record ${numbers[all.length - alerts.length]} series`)
  })

  it.skipIf(!hasTool('promtool'))('are rules that promtool accepts', () => {
    expect(promtool('check', 'rules', rules)).toContain('SUCCESS: 12 rules found')
  })

  it.skipIf(!hasTool('promtool')).each(['rules.promtool.yaml', 'scripts.promtool.yaml'])('pass the unit tests of %s', (file) => {
    expect(promtool('test', 'rules', join(import.meta.dirname, file))).toContain('SUCCESS')
  })
})
