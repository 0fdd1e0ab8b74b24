/** Maximum number of texts; others are counted. */
const maxTexts = 5

/** Joins the first texts for a log line: `a, b, c, d, e, 12 more`. */
export function joinFirst(texts: readonly string[], separator: string): string {
  const more = texts.length > maxTexts ? `${separator}${texts.length - maxTexts} more` : ''
  return texts.slice(0, maxTexts).join(separator) + more
}
