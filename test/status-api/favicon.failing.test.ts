import type sharp from 'sharp'
import { expect, it, vi } from 'vitest'
import { buildTestApp } from '../helpers/test-app.ts'

/** Errors of the next decodings, each once; then they succeed. */
const failures = vi.hoisted(() => [] as string[])

vi.mock('sharp', async (original) => {
  const { default: real } = await original<{ default: typeof sharp }>()
  const failing = (...given: Parameters<typeof sharp>) => {
    const made = real(...given)
    const toBuffer = made.toBuffer.bind(made) as typeof made.toBuffer
    made.toBuffer = (async (...options: Parameters<typeof toBuffer>) => {
      const message = failures.shift()
      if (message !== undefined) throw new Error(message)
      return toBuffer(...options)
    }) as typeof toBuffer
    return made
  }
  return { default: Object.assign(failing, real) }
})

const { default: picture } = await import('sharp')
const favicon = await picture({ create: { width: 64, height: 64, channels: 3, background: '#ff0000' } })
  .png()
  .toBuffer()
const timeout = 'timeout: 0% complete'

it('scales again after a failure', async () => {
  const { get } = await buildTestApp({ scripts: { Server: { status: { favicon } } } })
  await get('/api/v1/favicon')
  failures.push(timeout)
  const ask = async () => (await get('/api/v1/favicon?size=32', { accept: 'image/png' })).status
  expect([await ask(), await ask()]).toEqual([500, 200])
})

it('decodes an icon again with the next snapshot after a timeout', async () => {
  const { get, fleet } = await buildTestApp({ scripts: { Server: { status: { favicon } } } })
  failures.push(timeout)
  const ask = async () => (await get('/api/v1/favicon')).headers.get('x-favicon')
  expect([await ask(), await ask()]).toEqual(['default', 'default'])
  await fleet.pollAll()
  expect(await ask()).toBeNull()
})

it('does not decode again what is not a picture', async () => {
  const { get, fleet } = await buildTestApp({ scripts: { Server: { status: { favicon } } } })
  failures.push('pngload_buffer: libspng read error')
  const ask = async () => (await get('/api/v1/favicon')).headers.get('x-favicon')
  expect(await ask()).toBe('default')
  await fleet.pollAll()
  expect(await ask()).toBe('default')
})
