import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasTool } from './helpers/require-tool.ts'

const unit = join(import.meta.dirname, '..', 'examples', 'tickwarden.service')
const analyze = (...args: readonly string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })

describe.skipIf(!hasTool('systemd-analyze'))('the unit of systemd', () => {
  it('is valid', () => {
    // It only complains about a program that is not installed at that path.
    const { stderr } = analyze('verify', '--man=no', unit)
    expect(stderr.split('\n').filter((line) => line !== '' && !line.includes('/usr/bin/node'))).toEqual([])
  })

  it('has an exposure below 2', () => {
    const { stdout } = analyze('security', '--offline=yes', '--no-pager', unit)
    const exposure = /Overall exposure level for tickwarden\.service: ([\d.]+)/.exec(stdout)?.[1]
    expect(Number(exposure)).toBeLessThan(2)
  })
})
