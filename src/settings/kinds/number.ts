import type { Kind } from './kind.ts'

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `500ms`, `5s`, `1.5m`, `1h`, `2d` as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  return match ? Number(match[1]) * units[match[2] as keyof typeof units] : undefined
}

export function duration(min: string, max: string): Kind<number> {
  const [low, high] = [parseDuration(min) ?? 0, parseDuration(max) ?? Number.POSITIVE_INFINITY]
  const parse = (text: string): number | undefined => {
    const value = parseDuration(text)
    return value !== undefined && value >= low && value <= high ? value : undefined
  }
  const examples = ['500ms', '5s', '2m', '1h'].filter((text) => parse(text) !== undefined)
  const listed = examples.join(', ').replace(/, (?=\w+$)/, ' or ')
  return { example: '5s', expected: `a duration from ${min} to ${max}, such as ${listed}`, parse }
}

/** An integer in decimal digits: no sign, space, fraction, exponent or hexadecimal. */
export const integer = (min: number, max: number): Kind<number> => ({
  example: String(max),
  expected: `an integer from ${min} to ${max}`,
  parse(text) {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})
