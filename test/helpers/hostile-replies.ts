/** The limit of a status reply in bytes. */
const maxReply = 1_048_576

const reply = (parts: object): string =>
  JSON.stringify({ version: { name: '1.21.11', protocol: 774 }, players: { max: 20, online: 3 }, ...parts })
const described = (description: unknown): string => reply({ description })

/** A text component in which each level uses the one below it `times` times, or only the `lowest` ones do. */
export function nestedTranslate(levels: number, times: number, leaf: unknown, lowest = levels): unknown {
  let component = leaf
  for (let level = 0; level < levels; level++)
    component = { translate: '%1$s'.repeat(level < lowest ? times : 1), with: [component] }
  return component
}

function nestedExtra(levels: number, width: number): unknown {
  let component: unknown = 'x'
  for (let level = 0; level < levels; level++) component = { text: '', extra: [component, ...Array<string>(width).fill('')] }
  return component
}

/** Repeats a piece of JSON text between `open` and `close` as often as a reply may have it, with room for one more character. */
const filled = (open: string, piece: string, close: string): string =>
  open + piece.repeat(Math.floor((maxReply - 1 - open.length - close.length) / Buffer.byteLength(piece))) + close

const coloured = (count: number, text: string) => ({
  text: '',
  extra: Array.from({ length: count }, (_, index) => ({
    text,
    color: `#${(index * 4_099).toString(16).padStart(6, '0').slice(-6)}`,
    bold: index % 2 === 0,
  })),
})

/** JSON of status replies that take long to read, or much memory, in a program that does not limit them. */
export const hostileReplies: Readonly<Record<string, () => string>> = {
  'translations of 17 KB, nested': () => described(nestedTranslate(130, 25, '')),
  'translations of 200 KB, nested': () => described(nestedTranslate(130, 380, '')),
  'translations of 40 KB, nested, of which the lowest are large': () => described(nestedTranslate(131, 2_000, '', 4)),
  'translations of 1 MiB, nested': () => described(nestedTranslate(120, 2_000, 'x')),
  'arguments that double at each level': () => described(nestedTranslate(60, 2, 'boom')),
  'empty arguments that double at each level': () => described(nestedTranslate(100, 2, '')),
  'an argument of 100,000 empty texts, used 50,000 times': () =>
    described({ translate: '%1$s'.repeat(50_000), with: [Array(100_000).fill('')] }),
  'an argument of 700 KB, used 50,000 times': () =>
    described({ translate: '%s%1$s'.repeat(50_000), with: ['\u200b'.repeat(200_000)] }),
  'a pattern of percent signs': () => described({ translate: 'x', fallback: '%'.repeat(1_000_000) }),
  'a pattern of arguments that do not exist': () => described({ translate: '%999$s'.repeat(170_000), with: [] }),
  'extra, nested, with wide arrays': () => described(nestedExtra(120, 1_500)),
  'extra, nested 40,000 levels': () => `{"description":${'{"extra":['.repeat(40_000)}""${']}'.repeat(40_000)}}`,
  'scores, nested': () => `{"description":${'{"score":{"value":'.repeat(250)}"x"${'}}'.repeat(250)}}`,
  'arrays that never end': () => filled('', '[', ''),
  'arrays, nested': () => '['.repeat(500_000) + ']'.repeat(500_000),
  'objects, nested': () => '{"a":'.repeat(200_000),
  'empty arrays': () => filled('{"description":[', '[],', '[]]}'),
  'empty objects': () => filled('{"description":[', '{},', '{}]}'),
  'empty texts': () => filled('{"description":[', '"",', '""]}'),
  zeros: () => filled('{"description":[', '0,', '0]}'),
  'numbers beyond every range': () => filled('{"players":{"online":1e999,"max":-1e999},"description":[', '1e999,', '0]}'),
  'a number of a million digits': () => filled('{"players":{"online":', '9', '}}'),
  'a fraction of a million digits': () => filled('{"version":{"protocol":0.', '123456789', '}}'),
  'many keys': () => `{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":0`).join()}}`,
  'a key of 1 MiB': () => filled('{"', 'k', '":0}'),
  'the same key again and again': () => filled('{', '"description":{"text":"x"},', '"x":0}'),
  'keys of prototypes': () => filled('{"__proto__":{"description":"x"},', '"constructor":{"prototype":0},', '"toString":0}'),
  'a text of 1 MiB': () => filled('{"description":"', 'x', '"}'),
  'a text of formatting characters': () => filled('{"description":"', '§', '"}'),
  'thousands of formatting codes': () => described('§a§l'.repeat(100_000)),
  'thousands of colours of six digits': () => described('§x§1§2§a§b§3§4'.repeat(30_000)),
  'a text of zero-width characters': () => described('\u200b\u200d\ufeff'.repeat(100_000)),
  'zero-width pieces, each in its own colour': () => described(coloured(8_000, '\u200b')),
  'pieces, each in its own colour': () => described(coloured(20_000, 'x')),
  'colours that are no names': () =>
    described(Array.from({ length: 10_000 }, (_, index) => ({ text: 'x', color: index % 2 ? 'constructor' : 'x'.repeat(50) }))),
  'changes of the writing direction': () => described('\u202e\u2066'.repeat(150_000)),
  'line breaks': () => described('\r\n\r'.repeat(150_000)),
  'escapes of halves of characters': () => filled('{"description":"', '\\ud800', '"}'),
  backslashes: () => filled('{"description":"', '\\\\', '"}'),
  'quotes without an end': () => filled('{"description":"', '\\"', ''),
  'a keybind of 1 MiB': () => filled('{"description":{"keybind":"', 'k', '"}}'),
  'a version name of 1 MiB': () => filled('{"version":{"name":"', '1.21 - ', '"}}'),
  'an icon of 700 KB': () => reply({ favicon: `data:image/png;base64,${'iVBORw0K'.repeat(90_000)}` }),
  'an icon with line breaks': () => reply({ favicon: `data:image/png;base64,${'iVBORw0K\n'.repeat(50_000)}` }),
  'an icon of blanks': () => reply({ favicon: `data:image/png;base64,${' '.repeat(500_000)}!` }),
  'tiny entries in the sample': () => filled('{"players":{"online":3,"sample":[', '{},', '{}]}}'),
  'names of 1 MiB in the sample': () => filled('{"players":{"online":3,"sample":[{"name":"', 'x', '"}]}}'),
  'ids of dashes in the sample': () =>
    reply({ players: { online: 9, sample: Array(900).fill({ name: 'A', id: '-'.repeat(1_000) }) } }),
  'tiny mods': () => filled('{"forgeData":{"mods":[', '{},', '{}]}}'),
  'old mods': () => filled('{"modinfo":{"type":"FML","modList":[', '{"modid":"x"},', '{}]}}'),
  'a text of 1 MiB, to the last byte': () => `{"description":"${'x'.repeat(maxReply - 18)}"}`,
  'white space': () => filled('{', ' \n', '}'),
}

/** Replies of other protocols, and of servers up to 1.6. */
export const otherReplies: Readonly<Record<string, Buffer>> = {
  'a legacy reply of 64 KB': Buffer.concat([Buffer.from('ffffff', 'hex'), Buffer.alloc(131_070, '§1')]),
  'a legacy reply of formatting characters': Buffer.concat([
    Buffer.from('ff1000', 'hex'),
    Buffer.from('\u00a7'.repeat(4_096), 'utf16le').swap16(),
  ]),
  'a reply of RCON': Buffer.concat([Buffer.from('0a000000ffffffff02000000', 'hex'), Buffer.alloc(100_000)]),
  'an alert of TLS': Buffer.from('15030300020246', 'hex'),
  'frames of one byte without end': Buffer.alloc(1_000_000, Buffer.from('0105', 'hex')),
  'VarInts that never end': Buffer.alloc(1_000_000, 0x80),
}
