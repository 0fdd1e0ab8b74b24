import { expect, it } from 'vitest'
import { parsePage } from './markdown.ts'
import { shapeDifference } from './shape.ts'

const json = (shown: string, actual: unknown) => shapeDifference('json', shown, JSON.stringify(actual))
const text = (shown: string, actual: string) => shapeDifference('text', shown, actual)

it('compares JSON by keys and types', () => {
  expect(json('{"a": 1, "b": ["x"]}', { a: 7, b: ['y', 'z'] })).toBeUndefined()
  expect(json('{"a": null}', { a: 'text' })).toBeUndefined()
  expect(json('{"a": 1, ...}', { a: 7, b: 2 })).toBeUndefined()
  expect(json('[{"a": "..."}, ...]', [{ a: 'x' }, { a: 'y' }])).toBeUndefined()
  expect(json('{"a": 1}', { a: '7' })).toContain('$.a: string instead of number')
  expect(json('{"a": 1}', { a: 7, b: 2 })).toContain('$.b: not in the page')
  expect(json('{"a": 1, "b": 2}', { a: 7 })).toContain('$.b: missing')
  expect(json('[{"a": 1}]', [{ b: 1 }])).toContain('$[0].a: missing')
  expect(json('["x"]', [])).toContain('empty')
  expect(shapeDifference('json', '{}', 'no JSON')).toContain('not valid JSON')
})

it('compares text line by line, with any number for a number', () => {
  expect(text('up{server="demo"} 1', 'up{server="demo"} 0')).toBeUndefined()
  expect(text('a 1.5\n...\nd', 'a 3\nb\nc\nd\n')).toBeUndefined()
  expect(text('password ...', 'password r6_eQ')).toBeUndefined()
  expect(text('up{server="demo"} 1', 'up{server="other"} 1')).toContain('but got')
  expect(text('a\nb', 'a')).toContain('but got')
  expect(text('a', 'a\nb')).toContain('but got')
})

it('reads blocks, the block before each, and why one is not run', () => {
  const { blocks, links, anchors, codes } = parsePage(
    'p.md',
    '# A `b` page\n\n```sh\nls\n```\n\n```text\nout\n```\n\n[x](y.md#z) and `code`\n\n<!-- not run here: needs Docker -->\n```sh\ndocker\n```\n',
  )
  expect(blocks.map(({ line, language, text }) => [line, language, text])).toEqual([
    [3, 'sh', 'ls'],
    [7, 'text', 'out'],
    [14, 'sh', 'docker'],
  ])
  expect(blocks[1]?.follows).toBe(blocks[0])
  expect(blocks[2]).toMatchObject({ notRun: 'needs Docker' })
  expect(blocks[2]).not.toHaveProperty('follows')
  expect([links, [...anchors], codes]).toEqual([['y.md#z'], ['a-b-page'], ['b', 'code']])
})
