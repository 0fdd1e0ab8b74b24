// Changes valid examples of any type that a reader takes, so that one generator serves them all.
import fc from 'fast-check'

/** Pieces that readers of several formats are known to stumble over. */
const pieces: readonly string[] = [
  ...[
    '',
    ' ',
    '\0',
    '\n',
    '\r\n',
    '\t',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\ud800',
    '\udc00',
    'é',
    'İ',
    '😀',
    '\u202e',
    '§',
    '§k',
    '§x',
  ],
  ...['0', '-0', '-1', '1', '1e999', '-1e999', 'NaN', 'Infinity', '0x10', '1_0', '٣', '65536', '2147483648', '9007199254740993'],
  ...['9'.repeat(25), '1.', '.5', '1e-7', 'true', 'null', 'undefined', '__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  ...[
    '"',
    "'",
    '`',
    '\\',
    '\\u',
    '\\ud800',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '<',
    '>',
    ',',
    ';',
    ':',
    '=',
    '&',
    '|',
    '#',
    '?',
    '/',
    '//',
  ],
  ...[
    '%',
    '%s',
    '%1$s',
    '%00',
    '%zz',
    '$&',
    '$1',
    '..',
    '../',
    '::',
    '::1',
    '[::1]',
    '@',
    '*',
    '&amp;',
    '&#0;',
    '&#x110000;',
    '-',
    '- ',
  ],
  ...[
    '2026-02-30',
    '0000-00-00',
    '275760-09-14',
    '99:99:99',
    '24:00',
    'a',
    'a'.repeat(300),
    '['.repeat(600),
    '{"a":'.repeat(600),
  ],
]
const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    -1,
    0.5,
    1e308,
    -1e308,
    1e21,
    2 ** 31,
    2 ** 53,
    Number.MAX_SAFE_INTEGER,
    '',
    [],
    {},
    [[]],
    [null],
  ],
  ...[{ length: -1 }, { toString: 1 }, { '': '' }, ...pieces],
]

/** One change: its kind, a place and an argument, each any number. Small numbers are the simplest, so that failures become short. */
export type Step = readonly [kind: number, place: number, argument: number]

const pick = <T>(from: readonly T[], index: number): T => from[index % from.length]!

function changeText(text: string, [kind, place, argument]: Step): string {
  const at = place % (text.length + 1)
  const length = 1 + (argument % 16)
  switch (kind % 6) {
    case 0:
      return text.slice(0, at) + text.slice(at + length)
    case 1:
      return text.slice(0, at) + pick(pieces, argument) + text.slice(at)
    case 2:
      return text.slice(0, at) + pick(pieces, argument) + text.slice(at + length)
    case 3:
      return text.slice(0, at) + text.slice(at, at + length).repeat(1 + (argument % 20)) + text.slice(at + length)
    case 4:
      return text.slice(0, at)
    default:
      return text.slice(0, at) + String.fromCharCode(argument % 0x100) + text.slice(at + 1)
  }
}

function changeBytes(bytes: Buffer, [kind, place, argument]: Step): Buffer {
  const at = place % (bytes.length + 1)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  const length = 1 + (argument % 16)
  switch (kind % 5) {
    case 0:
      return Buffer.concat([before, after.subarray(length)])
    case 1:
      return Buffer.concat([before, Buffer.from([argument & 0xff]), after.subarray(1)])
    case 2:
      return Buffer.concat([before, Buffer.alloc(length, pick([0, 0xff, 0x80, 0x7f, 0x01], argument)), after.subarray(length)])
    case 3:
      return Buffer.concat([before, after.subarray(0, length), after])
    default:
      return before
  }
}

function changeList(list: readonly unknown[], step: Step): unknown[] {
  const [kind, place, argument] = step
  const at = place % (list.length + 1)
  switch (kind % 5) {
    case 0:
      return list.toSpliced(at, 1)
    case 1:
      return list.toSpliced(at, 0, ...list.slice(at, at + 1))
    case 2:
      // Chunks of a connection are always bytes.
      return list.toSpliced(at, 1, Buffer.isBuffer(list[0]) ? Buffer.from(pick(pieces, argument)) : pick(values, argument))
    default:
      return at < list.length ? list.with(at, change(list[at], inner(step))) : list.toReversed()
  }
}

/** The keys stay own properties, `__proto__` too, as JSON.parse returns them. */
function changeRecord(record: object, step: Step): unknown {
  const [kind, place, argument] = step
  const entries = Object.entries(record)
  const at = place % (entries.length + 1)
  const entry = entries[at]
  if (entry === undefined) return Object.fromEntries([...entries, [pick(pieces, argument), pick(values, argument >> 4)]])
  switch (kind % 5) {
    case 0:
      return Object.fromEntries(entries.toSpliced(at, 1))
    case 1:
      return Object.fromEntries(entries.with(at, [entry[0], pick(values, argument)]))
    case 2:
      return Object.fromEntries(entries.with(at, [changeText(entry[0], inner(step)), entry[1]]))
    default:
      return Object.fromEntries(entries.with(at, [entry[0], change(entry[1], inner(step))]))
  }
}

const inner = ([kind, place, argument]: Step): Step => [Math.floor(kind / 5), Math.floor(place / 3) + argument, argument]

/** Changes a value at one place, which stays a value of the same type unless it is inside of another one. */
function change(value: unknown, step: Step): unknown {
  if (typeof value === 'string') return changeText(value, step)
  if (Buffer.isBuffer(value)) return changeBytes(value, step)
  if (Array.isArray(value)) return changeList(value, step)
  if (typeof value === 'object' && value !== null) return changeRecord(value, step)
  return typeof value === 'number' ? pick([0, -1, value + 1, value * 1e9, -value, 0.5], step[2]) : value
}

/** Anything else is not parsed: the error of JSON.parse takes most of the time. */
const startOfJson = /^[ \t\r\n]*(?:["[{\d-]|true|false|null)/

/** Changes the value in a text of JSON instead of its characters, so that most of the texts stay JSON. */
function changeInJson(text: string, step: Step): string {
  if (!startOfJson.test(text)) return changeText(text, step)
  try {
    return JSON.stringify(change(JSON.parse(text), step)) ?? text
  } catch {
    return changeText(text, step)
  }
}

const changeAny = (value: unknown, step: Step): unknown =>
  typeof value === 'string' && step[0] % 2 === 0 ? changeInJson(value, inner(step)) : change(value, step)

const number = fc.nat(0xffff)
const steps = fc.array(fc.tuple(number, number, number), { maxLength: 6 })

/** An input made of one of the examples by a few changes. */
export const changed = (examples: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.tuple(fc.nat(examples.length - 1), steps).map(([index, all]) => all.reduce<unknown>(changeAny, examples[index]))
