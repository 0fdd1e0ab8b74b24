import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allNames, isOld, readDependencies, readLock } from '../docs/src/dependencies.ts'
import { ensure } from './tools/ensure.mjs'

const root = join(import.meta.dirname, '..')
const { checked, dependencies } = readDependencies()

describe('the list of dependencies', () => {
  it.each(Object.keys(dependencies))('has a reason for each in %s, and for no other', (folder) => {
    expect(Object.keys(dependencies[folder]!).toSorted()).toEqual([...allNames(folder)].toSorted())
    for (const [name, { reason }] of Object.entries(dependencies[folder]!)) expect(reason, name).not.toBe('')
  })

  it('says why one without a release for two years, or with none of known date, stays', () => {
    expect(isOld({ reason: '' }, checked)).toBe(true)
    const old = Object.values(dependencies).flatMap((byName) => Object.entries(byName).filter(([, one]) => isOld(one, checked)))
    for (const [name, { kept = '' }] of old) expect(kept, name).not.toBe('')
  })
})

describe('the check of the lock files', () => {
  const lint = (...files: readonly string[]) =>
    spawnSync(process.execPath, [join(root, 'test', 'tools', 'lint-lock-files.mjs'), ...files], { encoding: 'utf8' })
  const integrity = `sha512-${'a'.repeat(86)}==`
  const write = (entry: object) => {
    const file = join(mkdtempSync(join(tmpdir(), 'lock-')), 'package-lock.json')
    writeFileSync(
      file,
      JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/given': { version: '1.0.0', ...entry } } }),
    )
    return file
  }

  it('accepts those of the project', async () => {
    await ensure('test/tools')
    expect(lint()).toMatchObject({ stderr: '', status: 0 })
  })

  const wrong: readonly (readonly [problem: string, entry: object])[] = [
    ['has no checksum', {}],
    ['has no checksum', { optional: true }],
    ['sha1', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['invalid host', { integrity, resolved: 'https://packages.test/given/-/given-1.0.0.tgz' }],
    ['invalid host', { integrity, resolved: 'git+ssh://git@packages.test/given.git#0123456' }],
    ['invalid protocol', { integrity, resolved: 'http://packages.test/given/-/given-1.0.0.tgz' }],
  ]

  it('reports each wrong entry', async () => {
    await ensure('test/tools')
    const files = wrong.map(([, entry]) => write(entry))
    const { stderr, status } = lint(...files)
    const reports = files.map((file) => stderr.split('\n').filter((line) => line.startsWith(`${relative(root, file)}: `)))
    expect(reports.map((lines) => lines.join('\n').toLowerCase())).toEqual(
      wrong.map(([problem]) => expect.stringContaining(problem)),
    )
    expect(status).toBe(1)
  })
})

describe('the bill of materials', () => {
  const installed = Object.entries(readLock('.')).filter(
    ([path, one]) => path !== '' && one.dev !== true && one.devOptional !== true,
  )
  const expected = [
    ...new Set(installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)),
  ].toSorted()
  const sbom = (format: string) =>
    JSON.parse(
      execFileSync('npm', ['run', '--silent', 'sbom', format], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    )

  it('lists every package of the service as CycloneDX', () => {
    const { bomFormat, specVersion, metadata, components, dependencies: graph } = sbom('cyclonedx')
    expect([bomFormat, specVersion, metadata.component['bom-ref']]).toEqual([
      'CycloneDX',
      '1.5',
      expect.stringMatching(/^tickwarden@\d/),
    ])
    const found = components as { name: string; version: string; purl: string; hashes: unknown[]; licenses: unknown[] }[]
    // Each once: an identifier must be unique.
    expect(found.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual(expected)
    for (const { name, purl, hashes, licenses } of found)
      expect([name, purl, hashes.length, licenses.length]).toEqual([name, expect.stringMatching(/^pkg:npm\//), 1, 1])
    expect(graph.length).toBe(found.length + 1)
  })

  it('lists them as SPDX', () => {
    const { spdxVersion, dataLicense, packages } = sbom('spdx')
    expect([spdxVersion, dataLicense]).toEqual(['SPDX-2.3', 'CC0-1.0'])
    const found = packages as { name: string; versionInfo: string; licenseDeclared: string; checksums?: unknown[] }[]
    const others = found.filter(({ name }) => name !== 'tickwarden')
    expect(others.map(({ name, versionInfo }) => `${name}@${versionInfo}`).toSorted()).toEqual(expected)
    for (const { name, licenseDeclared, checksums } of others)
      expect([name, licenseDeclared === 'NOASSERTION', checksums?.length]).toEqual([name, false, 1])
  })
})
