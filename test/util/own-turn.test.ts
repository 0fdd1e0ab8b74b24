import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { inOwnTurn } from '../../src/util/own-turn.ts'

it('long work is done one piece per turn of the event loop', async () => {
  const order: string[] = []
  const target = new EventTarget()
  const done = once(target, 'done')
  for (const name of ['a', 'b', 'c']) inOwnTurn(() => void order.push(name))
  inOwnTurn(() => void target.dispatchEvent(new Event('done')))
  expect(order).toEqual([])
  for (const turn of [1, 2, 3]) {
    await nextTurn()
    order.push(`turn ${turn}`)
  }
  await done
  expect(order).toEqual(['a', 'turn 1', 'b', 'turn 2', 'c', 'turn 3'])
  inOwnTurn(() => void order.push('later'))
  await nextTurn()
  expect(order.at(-1)).toBe('later')
})
