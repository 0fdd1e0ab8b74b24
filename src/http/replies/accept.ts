import Negotiator from 'negotiator'

/** Whether the client accepts gzip and does not prefer an uncompressed reply. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  // x-gzip is another name of gzip (RFC 9110): offered as a coding of its own, it would match a `*` that gzip;q=0 excludes.
  const header = acceptEncoding.replace(/\bx-gzip\b/gi, 'gzip')
  const [best] = new Negotiator({ headers: { 'accept-encoding': header } }).encodings(['gzip', 'identity'])
  return best === 'gzip'
}

const codings = ['br', 'gzip', 'identity'] as const
export type Coding = (typeof codings)[number]

/** The smallest form that the client accepts. */
export function acceptedCoding(acceptEncoding = ''): Coding {
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...codings])
  return codings.find((coding) => accepted.includes(coding)) ?? 'identity'
}

/** Parameters of media ranges besides `version` and `q`: they do not apply to the types offered here. */
const otherParameters = /;\s*(?!(?:version|q)\s*=)[\w-]+\s*=\s*(?:"[^"]*"|[^;,]*)/gi

/**
 * Returns the offered media type (`image/png`) that the client prefers: by quality, then by specificity, then by the order in the
 * header, then by the order offered. Without a header or a match, the first type that the header does not exclude.
 */
export function negotiate<const T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const any = '*/*;q=0.001'
  const header = accept === undefined || accept.trim() === '' ? any : `${accept.replace(otherParameters, '')}, ${any}`
  const [best] = new Negotiator({ headers: { accept: header } }).mediaTypes([...offered])
  return offered.find((type) => type === best) ?? offered[0]
}

/**
 * True for a request of an `<img>` element. Some browsers list only other image types and a wildcard, which gives all offered types
 * the same quality. Their first choice is an image type, and unlike for a page load no text type is listed.
 */
export function prefersImages(accept: string | undefined): boolean {
  const types = new Negotiator({ headers: { accept: accept ?? '*/*' } }).mediaTypes()
  return types[0]?.startsWith('image/') === true && !types.some((type) => /^(text|application)\//.test(type))
}
