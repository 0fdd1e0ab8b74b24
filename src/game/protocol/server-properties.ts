const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function decodeEscapes(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.)|$)/gs, (_, hex: string | undefined, character: string | undefined) =>
    hex === undefined ? (escapes[character ?? ''] ?? character ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** Lines as Java means them: one that ends in an odd number of backslashes goes on in the next, whose indent does not count. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = []
  let begun: string | undefined
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.replace(/^[ \t\f]+/, '')
    if (begun === undefined && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue
    const whole = (begun ?? '') + line
    const goesOn = (/\\+$/.exec(line)?.[0].length ?? 0) % 2 === 1
    if (goesOn) begun = whole.slice(0, -1)
    else {
      lines.push(whole)
      begun = undefined
    }
  }
  if (begun !== undefined) lines.push(begun)
  return lines
}

/**
 * A `server.properties` file, read as `java.util.Properties.load` does: comments, `=`, `:` or a blank after the key, escapes and
 * lines that go on. Of a key given twice the last counts.
 */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  return new Map(
    logicalLines(text).map((line) => {
      const [, key = '', value = ''] = /^((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)$/s.exec(line) ?? []
      return [decodeEscapes(key), decodeEscapes(value)]
    }),
  )
}

/** UTF-8 as the game writes it now, ISO-8859-1 where it is not valid UTF-8, as the game and Java did before. */
export function decodeProperties(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}
