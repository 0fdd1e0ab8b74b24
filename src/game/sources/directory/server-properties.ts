export type Properties = ReadonlyMap<string, string>

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function decodeEscapes(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.)|$)/gs, (_, hex: string | undefined, character: string | undefined) =>
    hex === undefined ? (escapes[character ?? ''] ?? character ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Joins continuation lines: a line that ends with an odd number of backslashes continues on the next, whose indent is ignored. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = []
  let begun = ''
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.replace(/^[ \t\f]+/, '')
    if (begun === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue
    const isContinued = (/(?<!\\)\\+$/.exec(line)?.[0].length ?? 0) % 2 === 1
    begun += isContinued ? line.slice(0, -1) : line
    if (isContinued) continue
    lines.push(begun)
    begun = ''
  }
  if (begun !== '') lines.push(begun)
  return lines
}

/**
 * Parses a `server.properties` file like `java.util.Properties.load`: comments, `=`, `:` or white space after the key, escapes and
 * continuation lines. If a key occurs twice, the last value wins.
 */
export function parseProperties(text: string): Properties {
  return new Map(
    logicalLines(text).map((line) => {
      const [, key = '', value = ''] = /^((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)$/s.exec(line) ?? []
      return [decodeEscapes(key), decodeEscapes(value)]
    }),
  )
}

/** Decodes UTF-8 or, if it is not valid, ISO-8859-1, which older versions of the game use. */
export function decodeProperties(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

/** Returns a 32-bit integer property from `min` to `max`; undefined for anything else. */
export function integerIn(properties: Properties, key: string, min: number, max: number): number | undefined {
  const text = properties.get(key)?.trim() ?? ''
  const value = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}

/** Returns a port property, 1 to 65535; undefined for anything else. */
export const portIn = (properties: Properties, key: string): number | undefined => integerIn(properties, key, 1, 65_535)

/** Returns whether a property is exactly `true`, like the game. */
export const isOn = (properties: Properties, key: string): boolean => properties.get(key)?.trim() === 'true'
