const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
const omission = '...'

/** JSON in which `...` replaces omitted elements or keys. */
function parseShortened(text: string): unknown {
  const nesting: string[] = []
  const complete = text.replaceAll(/"(?:\\.|[^"\\])*"|\.\.\.|[[\]{}]/g, (token) => {
    if (token === '[' || token === '{') nesting.push(token)
    else if (token === ']' || token === '}') nesting.pop()
    if (token !== omission) return token
    return nesting.at(-1) === '{' ? `"${omission}": null` : `"${omission}"`
  })
  return JSON.parse(complete)
}

/**
 * How JSON differs from that of a page, in its keys or in the types of its values. null matches any type.
 * @returns one line for each difference
 */
function differences(shown: unknown, actual: unknown, path: string): readonly string[] {
  if (shown === null || actual === null) return []
  if (typeOf(shown) !== typeOf(actual)) return [`${path}: ${typeOf(actual)} instead of ${typeOf(shown)}`]
  if (Array.isArray(shown) && Array.isArray(actual)) {
    const elements = shown.filter((element) => element !== omission)
    if (elements.length > 0 && actual.length === 0) return [`${path}: empty`]
    return elements.flatMap((element, index) =>
      differences(element, actual[Math.min(index, actual.length - 1)], `${path}[${index}]`),
    )
  }
  if (typeof shown !== 'object') return []
  const [expected, found] = [shown as Record<string, unknown>, actual as Record<string, unknown>]
  const missing = Object.keys(expected).filter((key) => key !== omission && !(key in found))
  const surplus = omission in expected ? [] : Object.keys(found).filter((key) => !(key in expected))
  return [
    ...missing.map((key) => `${path}.${key}: missing`),
    ...surplus.map((key) => `${path}.${key}: not in the page`),
    ...Object.keys(expected).flatMap((key) => (key in found ? differences(expected[key], found[key], `${path}.${key}`) : [])),
  ]
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
const number = /-?\d+(?:\.\d+)*(?:e[+-]?\d+)?/g

/** A line of text as a pattern: a number matches any number, `...` matches anything. */
const linePattern = (line: string): string =>
  line
    .trim()
    .split(omission)
    .map((part) => part.split(number).map(escaped).join('-?\\d+(?:\\.\\d+)*(?:e[+-]?\\d+)?').replaceAll(/\s+/g, '\\s+'))
    .join('.*')

function textPattern(text: string): RegExp {
  const lines = text.trim().split('\n')
  const patterns = lines.map((line) => (line.trim() === omission ? '(?:.*\\n)*' : `[ \\t]*${linePattern(line)}[ \\t]*\\n`))
  return new RegExp(`^${patterns.join('')}$`)
}

/**
 * How the output of a command differs in shape from the output that a page shows: undefined if it does not.
 * @param language of the block: `json` is compared by keys and types, anything else line by line
 */
export function shapeDifference(language: string, shown: string, actual: string): string | undefined {
  if (language !== 'json') {
    return textPattern(shown).test(`${actual.trim()}\n`) ? undefined : `expected\n${shown}\nbut got\n${actual}`
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(actual)
  } catch {
    return `not valid JSON: ${actual}`
  }
  const found = differences(parseShortened(shown), parsed, '$')
  return found.length === 0 ? undefined : `${found.join('\n')}\nin\n${actual}`
}
