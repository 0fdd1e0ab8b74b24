import { expect, it } from 'vitest'
import { findExpressions, problemOf } from './helpers/regular-expressions.ts'
import { ensure } from './tools/ensure.mjs'

it('finds literals, schemas and calls, also in templates, but not divisions, strings and comments', () => {
  const code = `const a = /a\\/b+/g
const b = x / y / z // /c/
const c = '/d/' + \`/e/ \${t.replace(/f+/, "")}\`
const d = { pattern: '^\\\\d+$' }
const e = new RegExp(g)
// recheck: the text is short
const f = /h/`
  expect(findExpressions(code)).toEqual([
    { line: 1, pattern: { source: String.raw`a\/b+`, flags: 'g' } },
    { line: 3, pattern: { source: 'f+', flags: '' } },
    { line: 4, pattern: { source: String.raw`^\d+$`, flags: 'u' } },
    { line: 5 },
    { line: 7, pattern: { source: 'h', flags: '' }, reason: 'the text is short' },
  ])
})

it('finds expressions that take more than linear time', async () => {
  await ensure('test/tools')
  expect(problemOf('(a+)+$', '')).toMatch('exponential')
  expect(problemOf(String.raw`\s+$`, '')).toMatch('2nd degree')
  expect(problemOf(String.raw`^\s+`, '')).toBeUndefined()
  expect(problemOf('abc', '')).toBeUndefined()
})
