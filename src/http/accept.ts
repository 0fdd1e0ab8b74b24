import Negotiator from 'negotiator'

const encodings = ['gzip', 'x-gzip', 'identity']

/** Does the client accept gzip, and like it as much as no compression at all? */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  const [best] = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(encodings)
  return best === 'gzip' || best === 'x-gzip'
}

/** Parameters of media ranges besides `version` and `q`: they say nothing about the types offered here. */
const otherParameters = /;\s*(?!(?:version|q)\s*=)[\w-]+\s*=\s*(?:"[^"]*"|[^;,]*)/gi

/**
 * Which of the media types offered (`image/png`) the client likes best: by quality, then by how exactly it is named, then by the
 * order in the header, then by the order offered. Where there is no header or nothing in it fits, the first one that it does
 * not exclude.
 */
export function negotiate<const T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  const any = '*/*;q=0.001'
  const header = accept === undefined || accept.trim() === '' ? any : `${accept.replace(otherParameters, '')}, ${any}`
  const [best] = new Negotiator({ headers: { accept: header } }).mediaTypes([...offered])
  return offered.find((type) => type === best) ?? offered[0]
}

/**
 * True for an `<img>`: some browsers name only other image types and everything, so that all that is offered is liked as much.
 * What they like best is an image, and no text is named, as it is by a page load.
 */
export function prefersImages(accept: string | undefined): boolean {
  const types = new Negotiator({ headers: { accept: accept ?? '*/*' } }).mediaTypes()
  return types[0]?.startsWith('image/') === true && !types.some((type) => /^(text|application)\//.test(type))
}
