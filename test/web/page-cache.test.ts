import { expect, it } from 'vitest'
import { createPageCache } from '../../src/web/page-cache.ts'
import { manualClock } from '../helpers/manual-clock.ts'

/** A cache whose pages are rendered when the test lets it. */
function cacheOf() {
  const clock = manualClock()
  const cache = createPageCache<string>(clock)
  const renders: { readonly resolve: (html: string) => void; readonly reject: (error: Error) => void }[] = []
  const render = () => new Promise<string>((resolve, reject) => renders.push({ resolve, reject }))
  const get = async (key = 'a') => (await cache.get(key, 'identity', render)).toString()
  return { clock, renders, get }
}

it('renders a page once, and again half a second later', async () => {
  const { clock, renders, get } = cacheOf()
  const [first, second] = [get(), get()]
  renders[0]!.resolve('one')
  expect(await Promise.all([first, second])).toEqual(['one', 'one'])
  await clock.advance(499)
  expect(await get()).toBe('one')
  await clock.advance(1)
  const third = get()
  renders[1]!.resolve('two')
  expect(await third).toBe('two')
})

it('does not render a page a second time while it is being rendered, however long that takes', async () => {
  const { clock, renders, get } = cacheOf()
  const first = get()
  await clock.advance(3_000)
  const second = get()
  expect(renders).toHaveLength(1)
  renders[0]!.resolve('one')
  expect(await Promise.all([first, second])).toEqual(['one', 'one'])
  await clock.advance(6_999)
  expect(await get()).toBe('one')
})

it('reuses a page for at most ten seconds', async () => {
  const { clock, renders, get } = cacheOf()
  const first = get()
  await clock.advance(8_000)
  renders[0]!.resolve('one')
  await first
  await clock.advance(2_000)
  void get()
  expect(renders).toHaveLength(2)
})

it('renders a page of another key, and one that could not be rendered, at once', async () => {
  const { renders, get } = cacheOf()
  const [first, other] = [get('a'), get('b')]
  expect(renders).toHaveLength(2)
  renders[0]!.reject(new Error('failed'))
  renders[1]!.resolve('of b')
  await expect(first).rejects.toThrow('failed')
  expect(await other).toBe('of b')
  const again = get('a')
  renders[2]!.reject(new Error('failed again'))
  await expect(again).rejects.toThrow('failed again')
  const last = get('a')
  renders[3]!.resolve('of a')
  expect(await last).toBe('of a')
})
