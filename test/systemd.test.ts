import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasTool } from './helpers/require-tool.ts'

const unit = join(import.meta.dirname, '..', 'examples', 'tickwarden.service')
const analyze = (...args: readonly string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })

/** The values of a setting of the unit, in order. */
const valuesOf = (name: string): readonly string[] =>
  readFileSync(unit, 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith(`${name}=`) ? line.slice(name.length + 1).split(' ') : []))

describe('the sandbox of the unit of systemd', () => {
  it('allows what Node.js and the service call, and ends the service for no other call', () => {
    // V8 calls pkey_alloc(), which is not in @system-service, and write-file-atomic and SQLite chown(), which is in @privileged.
    expect(valuesOf('SystemCallFilter')).toEqual(['@system-service', '@pkey', '~@privileged', '@resources', '@chown'])
    expect(valuesOf('SystemCallErrorNumber')).toEqual(['EPERM'])
  })

  it('allows to list the addresses of the machine', () => {
    expect(valuesOf('RestrictAddressFamilies')).toContain('AF_NETLINK')
  })
})

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
