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
 * order in the header, then by the order offered. Where there is no header or nothing in it fits, the first one that it does
 * not exclude.
 */
export function negotiate<const T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const ranges = parseRanges(accept ?? '')
  const ranked = offered.map((offer, index) => {
    const [type = '', subtype = ''] = offer.split('/')
    const [best] = ranges.filter((range) => covers(range, type, subtype)).sort((a, b) => specificity(b) - specificity(a))
    return { offer, index, range: best }
  })
  const acceptable = ranked.flatMap(({ offer, index, range }) => (range && range.quality > 0 ? [{ offer, index, range }] : []))
  acceptable.sort(
    (a, b) =>
      b.range.quality - a.range.quality ||
      specificity(b.range) - specificity(a.range) ||
      a.range.position - b.range.position ||
      a.index - b.index,
  )
  return (acceptable[0] ?? ranked.find(({ range }) => range === undefined))?.offer ?? offered[0]
}

/**
 * True for an `<img>`: some browsers name only other image types and everything, so that all that is offered is liked as much.
 * What they like best is an image, and no text is named, as it is by a page load.
 */
export function prefersImages(accept: string | undefined): boolean {
  const ranges = parseRanges(accept ?? '').filter(({ quality }) => quality > 0)
  const most = Math.max(...ranges.map(({ quality }) => quality))
  return (
    ranges.some(({ type, quality }) => type === 'image' && quality === most) &&
    !ranges.some(({ type }) => type === 'text' || type === 'application')
  )
}
