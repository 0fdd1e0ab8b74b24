/** Control characters, and those that reorder text or break lines. */
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** Line breaks and tabs, which text of our own may hold. */
const isLayout = (character: string): boolean => character === '\n' || character === '\t'

const toCodePoint = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** A text from outside as it may be shown on a terminal or in a log: escape sequences and the like appear as `\u001b`. */
export const escapeControls = (text: string): string => text.replace(controls, toCodePoint)

/** The same of a text with several lines of our own, such as a stack. */
export const escapeControlsInLines = (text: string): string =>
  text.replace(controls, (character) => (isLayout(character) ? character : toCodePoint(character)))
