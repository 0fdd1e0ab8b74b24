import { describe, expect, it, vi } from 'vitest'
import { NestingError, parseJson, parseJsonIfValid } from '../../src/util/json.ts'

const nested = (depth: number, [open, close] = ['[', ']']) => open!.repeat(depth) + close!.repeat(depth)

describe('JSON from outside', () => {
  it.each([
    ['nothing', '[]', []],
    ['brackets in a text', JSON.stringify(['[{'.repeat(1_000)]), ['[{'.repeat(1_000)]],
    ['escaped quotes before brackets', JSON.stringify([`\\"${'['.repeat(600)}\\`]), [`\\"${'['.repeat(600)}\\`]],
    ['brackets next to each other', `[${'[],{},'.repeat(600)}0]`, [...Array(600).fill([[], {}]).flat(), 0]],
  ])('is parsed: %s', (_, text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  it('is nested at most 512 levels', () => {
    expect(JSON.stringify(parseJson(nested(512)))).toBe(nested(512))
    expect(() => parseJson(nested(513))).toThrow(new NestingError('nested deeper than 512 levels'))
    expect(() => parseJson(`{"a":${nested(512)}}`)).toThrow(NestingError)
    expect(() => parseJson('{"a":'.repeat(513))).toThrow(NestingError)
  })

  it('has at most as many values as its reader allows', () => {
    const objects = (count: number) => `[${Array(count).fill('{}').join()}]`
    expect(parseJson(objects(50), 100)).toHaveLength(50)
    expect(() => parseJson(objects(51), 100)).toThrow(/^of more than 100 values$/)
    expect(() => parseJson(`[${'0,'.repeat(100)}0]`, 100)).toThrow(/^of more than 100 values$/)
    expect(parseJson(JSON.stringify(['[,{'.repeat(1_000)]), 100)).toHaveLength(1)
  })

  it('that is nested too deep is not parsed', () => {
    const parse = vi.spyOn(JSON, 'parse')
    for (const text of ['['.repeat(1_000_000), nested(500_000), `["\\\\",${'['.repeat(1_000_000)}`]) {
      expect(() => parseJson(text)).toThrow(NestingError)
    }
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  it.each(['', '{', '["secret', `["${'\\"'.repeat(1_000)}`, `${']'.repeat(1_000)}${'['.repeat(600)}`])(
    'that is not valid is refused without a quote of it',
    (text) => {
      expect(() => parseJson(text)).toThrow(/^not valid JSON$/)
      expect(parseJsonIfValid(text)).toBeUndefined()
    },
  )
})
