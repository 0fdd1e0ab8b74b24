import { expect, it } from 'vitest'
import { cleanName, cleanText } from '../../../src/web/view/clean-text.ts'

it.each([
  ['an emoji in colour', '\u2764\ufe0f \u2620\ufe0f'],
  ['a family, and a profession with a skin colour', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f469}\u{1f3fd}\u200d\u{1f4bb}'],
  ['a flag of several emoji', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
  ['a Persian word with a joiner', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
  ['a Hindi and a Sinhala word with a joiner', '\u0915\u094d\u200d\u0937 \u0dc1\u0dca\u200d\u0dbb\u0dd3'],
])('shows %s as it is', (_, text) => expect(cleanText(text)).toBe(text))

it.each([
  ['joiners between other letters', 'ad\u200cm\u200din\ufe0f', 'admin'],
  ['joiners that join nothing', '\u200d\u0645\u200c \u2764\u200d \u0645\u200c\u200c\u0645', '\u0645 \u2764 \u0645\u0645'],
  [
    'joiners between letters of different scripts',
    '\u0627\u200cA \u0640\u200dA \u0915\u094d\u200dA',
    '\u0627A \u0640A \u0915\u094dA',
  ],
  ['more than one variation selector', '\u2764\ufe0f\ufe0f\ufe0e', '\u2764\ufe0f'],
  ['other invisible characters', '\u200ba\u202eb\u2066c\u{e0041}\ufeff\u3164', 'abc'],
  ['line breaks and tabs, as spaces', 'a\r\n\tb', 'a b'],
  ['more marks than a letter has', `a${'\u0301'.repeat(20)}`, `a${'\u0301'.repeat(8)}`],
])('removes %s', (_, text, expected) => expect(cleanText(text)).toBe(expected))

it('shows a placeholder for a name without visible characters', () => {
  expect(cleanName(' \u200d\u200c\u3164 ')).toBe('\ufffd')
})
