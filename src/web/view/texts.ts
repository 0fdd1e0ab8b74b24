import { fields, texts as german } from './texts/de.ts'
import { texts as english, type FieldTexts, type Texts } from './texts/en.ts'

interface LanguageTexts {
  readonly texts: Texts
  readonly fields?: FieldTexts
}

/**
 * The languages of the page, the default one first. The code in the browser has one of them: `build.mjs` makes it for each file in
 * `texts/`.
 */
export const languages = { en: { texts: english }, de: { texts: german, fields } } satisfies Record<string, LanguageTexts>
export type Language = keyof typeof languages
export const languageNames = Object.keys(languages) as [Language, ...Language[]]

export const textsOf = (language: Language): LanguageTexts => languages[language]
