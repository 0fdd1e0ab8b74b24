import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parsePage } from './markdown.ts'

const root = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** The README in the package of this owner, and what it is after packing. */
function packed(owner: string): readonly [string, string] {
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  const settings = readFileSync(join(root, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), settings.replaceAll('OWNER', owner))
  writeFileSync(join(folder, 'README.md'), readme)
  const run = (...options: readonly string[]): string => {
    execFileSync(process.execPath, [join(root, 'docs', 'src', 'packed-readme.mjs'), ...options], { cwd: folder })
    return readFileSync(join(folder, 'README.md'), 'utf8')
  }
  return [run(), run('--undo')]
}

it('has absolute links and pictures in the package only', () => {
  const [inPackage, after] = packed('someone')
  expect(after).toBe(readme)
  const { links } = parsePage('README.md', inPackage)
  expect(links.filter((href) => !/^(https:|http:\/\/127|#)/.test(href))).toEqual([])
  expect(inPackage).toMatch(
    /!\[[^\]]+\]\(https:\/\/raw\.githubusercontent\.com\/someone\/tickwarden\/v[\d.]+\/docs\/images\/\S+\.png\)/,
  )
  expect(links).toContainEqual(
    expect.stringMatching(/^https:\/\/github\.com\/someone\/tickwarden\/blob\/v[\d.]+\/docs\/sources\.md#rcon$/),
  )
})

it('keeps the relative links while there is no name of a maintainer', () => {
  expect(packed('OWNER')).toEqual([readme, readme])
})
