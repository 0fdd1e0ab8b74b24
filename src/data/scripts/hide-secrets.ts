import type { UpstreamRequest } from './upstream.ts'

/** Shorter values are not hidden: they may be ordinary text. Characters. */
const minSecretLength = 6

/** Parameters whose values are secret. */
const names = ['api_?key', 'api_sig', 'sk', '(?:[a-z]+_)?token', '(?:[a-z]+_)?secret', 'password'].join('|')
/** The same in a request, where `code` is an authorisation code and not an error code. */
const isSecretName = new RegExp(`^(?:${names}|code|authorization)$`, 'i')
/** `token=...` of a query or form, and `"token": "..."` of JSON. */
const named = new RegExp(`\\b(${names})(=|"\\s*:\\s*")[^\\s"&]+`, 'gi')
const credentials = /\b(Bearer|Basic)( +)[\w~+/.=-]{6,}/g

const hidden = '[hidden]'

/**
 * Creates a function that hides secrets in a text: these values, as they are and percent-encoded, and every value named as a
 * token, key, secret or signature.
 */
export function createHideSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter(({ length }) => length >= minSecretLength)
    .flatMap((secret) => [secret, encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)])
  // The longest first: one may contain another.
  const values = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return (text) =>
    values
      .reduce((shown, value) => shown.replaceAll(value, hidden), text)
      .replace(named, `$1$2${hidden}`)
      .replace(credentials, `$1$2${hidden}`)
}

/** The same for what an upstream replied to a request, which it may quote. */
export function hideSecretsOf({ form = {}, query = {}, headers = {} }: UpstreamRequest): (text: string) => string {
  const given = [form, query, headers].flatMap((part) => Object.entries(part))
  const secrets = given.filter(([name]) => isSecretName.test(name)).map(([, value]) => value)
  // Of `Bearer abc` the token alone too.
  return createHideSecrets([...secrets, ...secrets.map((value) => value.replace(/^\w+ /, ''))])
}

/** Hides secrets in every text of a JSON value. @param maxDepth levels of nesting; deeper ones are left out */
export function hideSecretsIn(value: unknown, hide: (text: string) => string, maxDepth = 5): unknown {
  if (typeof value === 'string') return hide(value)
  if (typeof value !== 'object' || value === null) return value
  if (maxDepth === 0) return undefined
  if (Array.isArray(value)) return value.map((item) => hideSecretsIn(item, hide, maxDepth - 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hideSecretsIn(item, hide, maxDepth - 1)]))
}
