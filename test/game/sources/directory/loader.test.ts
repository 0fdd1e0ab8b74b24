import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLoaderReader } from '../../../../src/game/sources/directory/loader.ts'
import { unmeasured } from '../../../../src/game/sources/source.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-loader-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const read = () => createLoaderReader(folder, unmeasured)()
const install = (...paths: readonly string[]) => paths.forEach((path) => void mkdirSync(join(folder, path), { recursive: true }))
const neoForge = 'libraries/net/neoforged/neoforge'
const earlyNeoForge = 'libraries/net/neoforged/forge'
const forge = 'libraries/net/minecraftforge/forge'
const quilt = 'libraries/org/quiltmc/quilt-loader'
const fabric = 'libraries/net/fabricmc/fabric-loader'
const remapped = '.fabric/remappedJars'

it.each([
  ['NeoForge', '21.4.10-beta', [`${neoForge}/21.4.10-beta`]],
  ['NeoForge', '47.1.106', [`${earlyNeoForge}/1.20.1-47.1.106`]],
  ['Forge', '47.2.0', [`${forge}/1.20.1-47.2.0`]],
  ['Forge', '10.13.4.1614', [`${forge}/1.7.10-10.13.4.1614-1.7.10`]],
  ['Forge', '47.2.0', [`${forge}/47.2.0`]],
  ['Forge', '47.2.0', [`${forge}/1.20.1-`, `${forge}/1.20.1-47.2.0`]],
  ['Quilt', '0.20.0-beta.9', [`${quilt}/0.20.0-beta.9`]],
  ['Fabric', '0.16.9', [`${fabric}/0.16.9`]],
  ['Fabric', '0.14.21', [`${remapped}/minecraft-1.20.1-0.14.21`, `${remapped}/minecraft-1.20.1`]],
  ['Fabric', '0.15.11', [`${remapped}/minecraft-1.21-pre1-0.15.11`]],
  // An update leaves the old version behind.
  ['Fabric', '0.16.10', [`${fabric}/0.16.10`, `${fabric}/0.16.9`]],
  // Quilt and NeoForge install the library of the loader that they come from too.
  ['Quilt', '0.20.0', [`${fabric}/0.14.0`, `${quilt}/0.20.0`]],
  ['NeoForge', '21.1.77', [`${forge}/1.21-51.0.0`, `${neoForge}/21.1.77`]],
])('finds %s %s', async (loader, version, paths) => {
  install(...paths)
  expect(await read()).toStrictEqual({ loader, version })
})

it.each([
  ['nothing', []],
  ['no version', [fabric]],
  [
    'no version, but other folders',
    [
      `${fabric}/backup-0.16.9`,
      `${neoForge}/old 21.1.77`,
      `${forge}/1.20.1-x`,
      `${forge}/1.20.1-`,
      `${remapped}/.cache`,
      `${remapped}/1.2.3`,
    ],
  ],
  ['a version that is too long', [`${fabric}/${'1'.repeat(62)}`]],
])('finds no loader if there is %s', async (_what, paths) => {
  install(...paths)
  expect(await read()).toBeUndefined()
})

it('finds Fabric before 0.12.9, which does not show its version', async () => {
  install(`${remapped}/minecraft-1.16.5`)
  expect(await read()).toStrictEqual({ loader: 'Fabric' })
})

it('finds one of 61 characters', async () => {
  install(`${fabric}/${'1'.repeat(61)}`)
  expect(await read()).toStrictEqual({ loader: 'Fabric', version: '1'.repeat(61) })
})

it.each([
  ['git-Paper-196 (MC: 1.20.1)', 'Paper', '196'],
  ['git-Purpur-2062 (MC: 1.20.1)', 'Purpur', '2062'],
  ['1.21.4-232-12d8fe0 (MC: 1.21.4)', 'Paper', '232'],
  ['1.21.4-232 (MC: 1.21.4)', 'Paper', '232'],
  ['1.21.4-232 (MC:\n1.21.4)', 'Paper', '232'],
  ['1.21.4-232-git-Other-1 (MC: 1.21.4)', 'Paper', '232'],
])('finds the software of the version history %j', async (currentVersion, loader, version) => {
  writeFileSync(join(folder, 'version_history.json'), JSON.stringify({ oldVersion: null, currentVersion }))
  expect(await read()).toStrictEqual({ loader, version })
  install(`${fabric}/0.16.9`)
  expect(await read()).toStrictEqual({ loader: 'Fabric', version: '0.16.9' })
})

it.each(['{', '', 'null', '{}', '5', '{"currentVersion":196}', '{"currentVersion":""}', '{"currentVersion":"of git-Paper-196"}'])(
  'finds nothing in the version history %j',
  async (text) => {
    writeFileSync(join(folder, 'version_history.json'), text)
    expect(await read()).toBeUndefined()
  },
)
