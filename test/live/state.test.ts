import { expect, it } from 'vitest'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { difference, stateOf } from '../../src/live/state.ts'
import { runningServer as up } from '../helpers/running-server.ts'

const hung: ServerSnapshot = { ...up, mainThread: { responsive: false, delay: 20 } }

it('of a hung server shows that its main thread does not answer, which is a change', () => {
  expect(stateOf(hung)).toMatchObject({ up: true, responsive: false })
  const running = stateOf({ ...up, mainThread: { responsive: true, delay: 0.02 } })
  expect(difference(running, stateOf(hung))).toEqual({ responsive: false })
})

it('has no main thread where it is not known, or the server is not up', () => {
  expect(stateOf(up).responsive).toBeNull()
  expect(stateOf({ ...hung, up: false }).responsive).toBeNull()
  const { up: _, mainThread, ...unknown } = hung
  expect(stateOf(unknown)).toMatchObject({ up: null, responsive: null, online: null })
})
