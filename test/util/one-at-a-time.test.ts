import { expect, it } from 'vitest'
import { oneAtATime } from '../../src/util/one-at-a-time.ts'

it('reads once more for all calls during a reading, forced if one of them asks for it, and again after an error', async () => {
  const forced: boolean[] = []
  let end = () => {}
  const read = oneAtATime(async (isForced) => {
    forced.push(isForced)
    await new Promise<void>((resolve) => {
      end = resolve
    })
    throw new Error('failed')
  })
  const first = read()
  await Promise.resolve()
  const waiting = [read(), read(true), read()]
  expect(forced).toEqual([false])
  end()
  await first
  await expect.poll(() => forced).toEqual([false, true])
  end()
  await Promise.all(waiting)
  const last = read()
  await expect.poll(() => forced).toEqual([false, true, false])
  end()
  await last
})
