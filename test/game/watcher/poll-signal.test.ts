import { expect, it } from 'vitest'
import { PollSignal } from '../../../src/game/watcher/poll-signal.ts'
import { toAbortSignal } from '../../../src/util/abortable.ts'

it('calls its listeners once, with the first reason', () => {
  const signal = new PollSignal()
  const reasons: unknown[] = []
  signal.addEventListener('abort', () => reasons.push(signal.reason))
  signal.throwIfAborted()
  expect(signal.aborted).toBe(false)
  signal.abort('late')
  signal.abort('closed')
  expect(reasons).toEqual(['late'])
  expect(signal.aborted).toBe(true)
  expect(() => signal.throwIfAborted()).toThrow('late')
})

it('does not call a listener that was removed, even by another listener', () => {
  const signal = new PollSignal()
  const called: string[] = []
  const [second, third] = [() => called.push('second'), () => called.push('third')]
  signal.addEventListener('abort', () => {
    called.push('first')
    signal.removeEventListener('abort', third)
  })
  signal.addEventListener('abort', second)
  signal.addEventListener('abort', third)
  signal.removeEventListener('abort', second)
  signal.abort('late')
  expect(called).toEqual(['first'])
})

it('becomes an AbortSignal with the same reason', () => {
  const signal = new PollSignal()
  const before = toAbortSignal(signal)
  expect(before.aborted).toBe(false)
  signal.abort('late')
  expect(before.reason).toBe('late')
  expect(toAbortSignal(signal).reason).toBe('late')
  expect(toAbortSignal(before)).toBe(before)
})
