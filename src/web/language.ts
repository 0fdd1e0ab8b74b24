import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import { type Language, languageNames } from './view/texts.ts'

/** The language of a page: the given one, or the one that the browser prefers. */
export function languageOf(headers: IncomingHttpHeaders, given: Language | undefined): Language {
  const [fallback] = languageNames
  const best = given ?? new Negotiator({ headers }).language([...languageNames])
  return languageNames.find((name) => name === best) ?? fallback
}
