import { cachedPerKey } from '../util/cached.ts'

/** Replaces secrets in a text; returns the text itself if it contains none. */
export type Mask = (text: string) => string

/** What a text has instead of a secret. */
export const hidden = '[hidden]'

/** Secrets and encoded forms that are shorter are only masked as whole words: they may be parts of ordinary words. Characters. */
const minLength = 4
/** A part of a secret at the end of a text that was cut off is masked if it has this many characters. */
const minCutLength = 6
/** Maximum number of forms that are searched by a regular expression first. */
const maxStarts = 64
/** Shorter texts are never cut off. Characters. */
const minCutText = 100

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/** Ignores case. Each character keeps its position: U+0130 is the only one whose lower case has two characters. */
const fold = (text: string): string =>
  isAscii(text) ? text.toLowerCase() : text.replaceAll('\u0130', 'i').toLowerCase().replaceAll('ς', 'σ')

/** The characters of a base64 text that depend on the secret only, whatever comes before and after it. */
function base64Forms(secret: string): readonly string[] {
  return ['', '.', '..'].flatMap((before) => {
    const bytes = Buffer.from(before + secret)
    const [start, end] = [Math.ceil((before.length * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const forms = (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(start, end))
    return end - start < minCutLength ? [] : forms
  })
}

/** A secret as it is, percent-encoded where necessary or everywhere, as a string of JSON and in base64, alone or after a user name. */
function formsOf(secret: string): readonly string[] {
  const bytes = [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  // The other forms are the same.
  if (/^\w+$/.test(secret)) return [secret, bytes, ...base64Forms(secret)]
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  const percent = encodeURIComponent(Buffer.from(secret).toString())
  return [secret, bytes, form, percent, JSON.stringify(secret).slice(1, -1), ...base64Forms(secret)]
}

interface Form {
  readonly text: string
  /** The longest other form with which it begins. */
  readonly shorter: Form | undefined
}

/** Sorts forms, so that the search among thousands with the same first characters takes few comparisons. */
function sortForms(texts: readonly string[]): readonly Form[] {
  const forms: Form[] = []
  for (const text of texts.toSorted()) {
    let shorter = forms.at(-1)
    while (shorter !== undefined && !text.startsWith(shorter.text)) shorter = shorter.shorter
    forms.push({ text, shorter })
  }
  return forms
}

/** Returns the index of the first form that is greater than the text. */
function indexAfter(forms: readonly Form[], text: string): number {
  let [low, high] = [0, forms.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((forms[middle]?.text ?? '') > text) high = middle
    else low = middle + 1
  }
  return low
}

/** Creates a function that returns the length of the form at a position of a text, 0 if none begins there. */
function createFinder(forms: readonly string[]): (text: string, at: number) => number {
  // A regular expression of all forms would take seconds to compile for thousands of servers.
  const byStart = new Map<string, string[]>()
  // Not Math.max(...), which accepts about 100,000 values: a fleet of 10,000 servers has more.
  const maxLength = forms.reduce((max, { length }) => Math.max(max, length), 0)
  for (const form of forms) {
    const start = form.slice(0, minLength)
    const sameStart = byStart.get(start)
    if (sameStart === undefined) byStart.set(start, [form])
    else sameStart.push(form)
  }
  const sortedFrom = cachedPerKey((start: string) => sortForms(byStart.get(start) ?? []), Number.POSITIVE_INFINITY)

  return (text, at) => {
    const start = text.slice(at, at + minLength)
    if (!byStart.has(start)) return 0
    const candidates = sortedFrom(start)
    const rest = text.slice(at, at + maxLength)
    let form = candidates[indexAfter(candidates, rest) - 1]
    while (form !== undefined && !rest.startsWith(form.text)) form = form.shorter
    const length = form?.text.length ?? 0
    if (text.length < minCutText) return length
    // Messages quote what they cut off.
    const [cut = ''] = rest.split('"', 1)
    if (cut.length < minCutLength || cut.length <= length) return length
    return candidates[indexAfter(candidates, cut)]?.text.startsWith(cut) ? cut.length : length
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** Masks texts that are whole words. */
function createWordMask(words: readonly string[]): Mask {
  if (words.length === 0) return (text) => text
  // recheck: alternatives of literal texts
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.map(escaped).join('|')})(?![\\p{L}\\p{N}])`, 'giu')
  return (text) => text.replace(pattern, hidden)
}

/** The formatting codes of Minecraft: `§c`, and `§#12ab34` in our own texts. */
const formattingCode = /§(?:#[0-9a-f]{6}|.)/gis

/**
 * Creates a mask for these secrets, in any letter case, as they are, percent-encoded, in base64 or as a string of JSON, and cut off at
 * the end of a text or quotation. Formatting codes that interrupt a secret are removed with it. A search takes time linear in the text.
 */
export function createMask(secrets: Iterable<string>): Mask {
  const given = [...new Set(secrets)].filter((secret) => secret.trim() !== '')
  const maskWords = createWordMask(given.filter(({ length }) => length < minLength))
  const long = given.filter(({ length }) => length >= minLength)
  const forms = [...new Set(long.flatMap(formsOf).map(fold))].filter((form) => !hidden.includes(form))
  if (forms.length === 0) return maskWords
  const lengthAt = createFinder(forms)
  // Ten times as fast for the few secrets of a source; for many, it would take long to compile.
  // recheck: alternatives of literal texts
  const starts = forms.length <= maxStarts && new RegExp(forms.map((form) => escaped(form.slice(0, minLength))).join('|'), 'iu')

  function maskForms(text: string): string {
    if (starts && !starts.test(text)) return text
    const folded = fold(text)
    let masked = ''
    let end = 0
    for (let at = 0; at <= folded.length - minLength; at++) {
      const length = lengthAt(folded, at)
      if (length === 0) continue
      // One that begins within another is masked with it.
      if (at >= end) masked += text.slice(end, at) + hidden
      end = Math.max(end, at + length)
    }
    return masked + text.slice(end)
  }

  return (text) => {
    const masked = maskWords(maskForms(text))
    if (!masked.includes('§')) return masked
    const bare = masked.replace(formattingCode, '')
    const maskedBare = maskForms(bare)
    return maskedBare === bare ? masked : maskedBare
  }
}
