interface Range {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly position: number
}

/** The media ranges of an Accept header (RFC 9110, 12.5.1); what does not parse is left out. */
function parseRanges(accept: string): Range[] {
  return accept.split(',').flatMap((part, position) => {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const match = /^([\w!#$&^.+-]+|\*)\/([\w!#$&^.+-]+|\*)$/.exec(range)
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    if (match === null || (weight !== undefined && !/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight))) return []
    return [{ type: match[1] ?? '', subtype: match[2] ?? '', quality: weight === undefined ? 1 : Number(weight), position }]
  })
}

const specificity = ({ type, subtype }: Range): number => (type === '*' ? 0 : subtype === '*' ? 1 : 2)

const covers = (range: Range, type: string, subtype: string): boolean =>
  (range.type === '*' || range.type === type) && (range.subtype === '*' || range.subtype === subtype)

/**
 * Which of the types offered (`image/png`) the client likes best: by quality, then by how exactly it is named, then by the
 * order in the header, then by the order offered. The first one where there is no header or nothing in it fits.
 */
export function negotiate<const T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const ranges = parseRanges(accept ?? '')
  const ranked = offered.flatMap((offer, index) => {
    const [type = '', subtype = ''] = offer.split('/')
    const [best] = ranges.filter((range) => covers(range, type, subtype)).sort((a, b) => specificity(b) - specificity(a))
    return best === undefined || best.quality === 0 ? [] : [{ offer, index, range: best }]
  })
  ranked.sort(
    (a, b) =>
      b.range.quality - a.range.quality ||
      specificity(b.range) - specificity(a.range) ||
      a.range.position - b.range.position ||
      a.index - b.index,
  )
  return ranked[0]?.offer ?? offered[0]
}

/** An `<img>` of some browsers names only other image types and everything; a page load names text/html too. */
export function asksForImage(accept: string | undefined): boolean {
  const types = new Set(parseRanges(accept ?? '').flatMap(({ type, quality }) => (quality === 0 ? [] : [type])))
  return types.has('image') && !types.has('text') && !types.has('application')
}
