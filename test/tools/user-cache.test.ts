import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { cachedFolder } from './user-cache.mjs'

let cache = ''
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'cache-'))
})

it('is filled once for each key, also by several at the same time', async () => {
  let filled = 0
  const get = (key: string) =>
    cachedFolder('tool', key, async (folder) => writeFileSync(join(folder, String(filled++)), ''), cache)
  const [first, second, other] = await Promise.all([get('a'), get('a'), get('b')])
  expect(second).toBe(first)
  expect(other).not.toBe(first)
  expect(await get('a')).toBe(first)
  expect(filled).toBe(2)
})

it('is filled again after a failure, without what that left', async () => {
  const fail = async (folder: string) => {
    writeFileSync(join(folder, 'half'), '')
    throw new Error('interrupted')
  }
  await expect(cachedFolder('tool', 'a', fail, cache)).rejects.toThrow('interrupted')
  const folder = await cachedFolder('tool', 'a', async (folder) => writeFileSync(join(folder, 'whole'), ''), cache)
  expect(readdirSync(folder)).not.toContain('half')
})
