/** Control characters, those that reorder text or break lines, and halves of surrogate pairs, which not every JSON parser accepts. */
const controls = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** Line breaks and tabs, which are allowed in texts of Tickwarden itself. */
const isLayout = (character: string): boolean => character === '\n' || character === '\t'

const toCodePoint = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** Makes an untrusted text safe for a terminal or log: control characters become `\u001b` and the like. */
export const escapeControls = (text: string): string => text.replace(controls, toCodePoint)

/** The same, but keeps line breaks and tabs, for texts such as a stack trace. */
export const escapeControlsInLines = (text: string): string =>
  text.replace(controls, (character) => (isLayout(character) ? character : toCodePoint(character)))
