import { describe, expect, it } from 'vitest'
import { createRenderer } from '../../../src/web/pictures/renderer.ts'
import { until } from '../../helpers/until.ts'

describe('the rendering', () => {
  const one = (client: string, count = () => {}) => ({ client, count })
  /** A picture that is rendered until the test ends it. */
  function picture(key: string, started: string[]) {
    let end = () => {}
    const isDone = new Promise<void>((resolve) => {
      end = resolve
    })
    const render = async () => {
      started.push(key)
      await isDone
      return key
    }
    return { type: 'image/png', key, render, end: () => end() } as const
  }

  it('is one at a time for each client, in turns', async () => {
    const renderer = createRenderer()
    const started: string[] = []
    const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
    const pictures = names.map((name) => picture(name, started))
    const replies = pictures.map((each) => renderer.reply(each, one(each.key.slice(0, 1))))
    await until(() => started.length === 3)
    expect(started).toEqual(['a1', 'b1', 'c1'])
    pictures[0]!.end()
    await replies[0]
    await until(() => started.length === 4)
    expect(started.at(-1)).toBe('a2')
    for (const { end } of pictures) end()
    expect((await Promise.all(replies)).map(({ body }) => String(body))).toEqual(names)
    expect(started.toSorted()).toEqual(names)
  })

  it('of a client with too many does not refuse those of others, and one that fails makes room', async () => {
    const renderer = createRenderer()
    const failing = (key: string) => ({ type: 'image/png' as const, key, render: () => Promise.reject(new Error('no')) })
    const started: string[] = []
    const first = picture('a', started)
    const running = renderer.reply(first, one('a'))
    const many = Promise.allSettled(Array.from({ length: 200 }, (_, index) => renderer.reply(failing(`a${index}`), one('a'))))
    const other = picture('b', started)
    other.end()
    expect(String((await renderer.reply(other, one('b'))).body)).toBe('b')
    first.end()
    await running
    const reasons = (await many).map((result) => (result.status === 'rejected' ? result.reason.message : ''))
    expect(reasons.filter((reason) => reason === 'no')).toHaveLength(140)
    expect(reasons.filter((reason) => reason.startsWith('Too many pictures'))).toHaveLength(60)
    const last = picture('last', started)
    last.end()
    expect(String((await renderer.reply(last, one('a'))).body)).toBe('last')
  })

  it('is counted once, for the client that requests it first', async () => {
    const renderer = createRenderer()
    const started: string[] = []
    const counted: string[] = []
    const wanted = picture('a', started)
    const replies = ['x', 'y', 'x'].map((name) =>
      renderer.reply(
        wanted,
        one(name, () => void counted.push(name)),
      ),
    )
    wanted.end()
    await Promise.all(replies)
    await renderer.reply(
      wanted,
      one('z', () => void counted.push('z')),
    )
    expect([counted, started]).toEqual([['x'], ['a']])
  })
})
