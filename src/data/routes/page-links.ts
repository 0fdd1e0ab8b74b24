/** Maximum length of the `Link` header, in characters: some proxies limit all headers to 8 KiB. */
const maxLink = 7 * 1024

/**
 * Links to the other pages of a selection (RFC 8288); none with a limit of 0, which has no last page. If four links would be
 * too long, only those to the next and previous page.
 * @param given the parameters besides limit and offset
 */
export function pageLinks(path: string, given: Readonly<Record<string, string>>, total: number, limit: number, offset: number) {
  if (limit === 0) return {}
  // The page where following `next` ends, also for an offset that is not a multiple of the limit.
  const start = offset % limit
  const last = start < total ? start + Math.floor((total - 1 - start) / limit) * limit : 0
  const link = (relation: string, target: number) => {
    const parameters = new URLSearchParams({ ...given, limit: String(limit), offset: String(target) })
    return `<${path}?${parameters}>; rel="${relation}"`
  }
  const neighbours = [
    ...(offset > 0 ? [link('prev', offset >= total ? last : Math.max(0, offset - limit))] : []),
    ...(offset + limit < total ? [link('next', offset + limit)] : []),
  ]
  const all = [link('first', 0), ...neighbours, link('last', last)].join(', ')
  if (all.length <= maxLink) return { link: all }
  return neighbours.length > 0 ? { link: neighbours.join(', ') } : {}
}
