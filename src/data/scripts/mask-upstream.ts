import { createMask, hidden, type Mask } from '../../secrets/mask.ts'
import { secretsOf } from '../../secrets/secrets-of.ts'
import { type ScriptSettings, scriptSettingTable } from './script.ts'

const names = ['api_?key', 'api_sig', 'sk', '(?:[a-z]+_)?token', '(?:[a-z]+_)?secret', 'password'].join('|')
/** The same in a request, where `code` is an authorisation code and not an error code. */
const isSecretName = new RegExp(`^(?:${names}|code|authorization)$`, 'i')
/** `token=...` of a query or form, and `"token": "..."` of JSON. */
const named = new RegExp(`\\b(${names})(=|"\\s*:\\s*")[^\\s"&]+`, 'gi')
const credentials = /\b(Bearer|Basic)( +)[\w~+/.=-]{6,}/g

/** Masks the secret settings of a script, for example in the entries that it publishes. */
export const maskOfSettings = (values: ScriptSettings): Mask => createMask(secretsOf(scriptSettingTable, values))

/** The same for messages, in which an upstream may also quote tokens that it issued. */
export const maskOfMessages = (values: ScriptSettings): Mask => createUpstreamMask(secretsOf(scriptSettingTable, values))

/** Creates a mask for texts of an upstream: masks these secrets, and every value named as a token, key, secret or signature. */
export function createUpstreamMask(secrets: readonly string[]): Mask {
  const mask = createMask(secrets)
  return (text) => mask(text).replace(named, `$1$2${hidden}`).replace(credentials, `$1$2${hidden}`)
}

type Parts = Readonly<Partial<Record<'form' | 'query' | 'headers', Readonly<Record<string, string>>>>>

/** The same for what an upstream replied to a request, which it may quote. */
export function maskOfRequest({ form = {}, query = {}, headers = {} }: Parts): Mask {
  const given = [form, query, headers].flatMap((part) => Object.entries(part))
  const secrets = given.filter(([name]) => isSecretName.test(name)).map(([, value]) => value)
  // Of `Bearer abc` the token alone.
  return createUpstreamMask(secrets.map((value) => value.replace(/^(?:Bearer|Basic) /, '')))
}
