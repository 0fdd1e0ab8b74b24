import { describe, expect, it } from 'vitest'
import { readMonthPage as readPage } from '../../../../src/data/scripts/kcomebacks/page.ts'

/** The rows of a page, without what tells its form. */
function readMonthPage(...given: Parameters<typeof readPage>) {
  const { entries, reports, leftOut, notes } = readPage(...given)
  return { entries, reports, leftOut, notes }
}

const february = '2024-02'
const head = '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming\n|--|--|--|--|--|--|--\n'
const read = (rows: string, month = february) => readMonthPage(`### Scheduled Releases:\n\n${head}${rows}`, month)

/** The entry of `|1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)`, with the given values replaced. */
const entry = (part: object = {}) => ({
  date: '2024-02-1',
  time: '18:00',
  artist: 'IU',
  title: 'Love wins',
  types: ['single'],
  links: ['https://s/1', 'https://www.reddit.com/d1'],
  ...part,
})

it.each([
  [true, `${head}|1st|18:00|IU|A|||`],
  [true, head],
  [false, ''],
  [false, `### OST\n\n${head}|1st|18:00|IU|A|||`],
  [false, '|Artist|Title\n|--|--\n|IU|A'],
])('has a table that may have comebacks: %s', (hasTable, markdown) => {
  expect(readPage(markdown, february).hasTable).toBe(hasTable)
})

describe('a row of the wiki', () => {
  it.each<[what: string, row: string, expected: object]>([
    ['an ordinary one', '|1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)', entry()],
    ['a bar at its end', '|1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)|', entry()],
    [
      'spaces around its cells',
      '| 1st | 18:00 | *IU* | *Love wins* | Single | [Love wins](/d1) | [Spotify](https://s/1) |',
      entry(),
    ],
    ['spaces before it', '  |1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)', entry()],
    ['no first bar', '1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)', entry()],
    // Day
    ['2nd', '|2nd|18:00|IU|A|||', entry({ date: '2024-02-2', title: 'A', types: [], links: [] })],
    ['3rd', '|3rd|18:00|IU|A|||', entry({ date: '2024-02-3', title: 'A', types: [], links: [] })],
    ['29th in a leap year', '|29th|18:00|IU|A|||', entry({ date: '2024-02-29', title: 'A', types: [], links: [] })],
    ['21ST in capitals', '|21ST|18:00|IU|A|||', entry({ date: '2024-02-21', title: 'A', types: [], links: [] })],
    ['a day without its ending', '|7|18:00|IU|A|||', entry({ date: '2024-02-7', title: 'A', types: [], links: [] })],
    ['a padded day, kept as written', '|07th|18:00|IU|A|||', entry({ date: '2024-02-07', title: 'A', types: [], links: [] })],
    ['a wrong ending', '|1th|18:00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a bold day', '|**1st**|18:00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a raised ending with a space', '|1 st|18:00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a weekday in brackets', '|1st (Fri)|18:00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a weekday', '|1st, Thursday|18:00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a raised ending', '|1^st|18:00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a raised ending in brackets', '|22^(nd)|18:00|IU|A|||', entry({ date: '2024-02-22', title: 'A', types: [], links: [] })],
    ['all of these', '|**3^rd (Sat.)**|18:00|IU|A|||', entry({ date: '2024-02-3', title: 'A', types: [], links: [] })],
    ['TBA', '|TBA||IU|A|||', entry({ date: '2024-02-TBA', time: '--:--', title: 'A', types: [], links: [] })],
    ['TBA with a time', '|TBA|18:00|IU|A|||', entry({ date: '2024-02-TBA', title: 'A', types: [], links: [] })],
    ['a question mark for a day', '|?|?|IU|A|||', entry({ date: '2024-02-?', time: '--:--', title: 'A', types: [], links: [] })],
    // Time
    ['a time with a dot', '|1st|18.00|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['an unpadded time', '|1st|6:00|IU|A|||', entry({ time: '06:00', title: 'A', types: [], links: [] })],
    ['midnight', '|1st|0:00|IU|A|||', entry({ time: '00:00', title: 'A', types: [], links: [] })],
    ['a time with its zone', '|1st|18:00 KST|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['6 PM', '|1st|6 PM|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['12:30am', '|1st|12:30am|IU|A|||', entry({ time: '00:30', title: 'A', types: [], links: [] })],
    ['an unknown time', '|1st|?|IU|A|||', entry({ time: '--:--', title: 'A', types: [], links: [] })],
    ['no time', '|1st||IU|A|||', entry({ time: '--:--', title: 'A', types: [], links: [] })],
    ['a time that is not known yet', '|1st|TBA|IU|A|||', entry({ time: '--:--', title: 'A', types: [], links: [] })],
    ['a dash for a time', '|1st|-|IU|A|||', entry({ time: '--:--', title: 'A', types: [], links: [] })],
    ['a time with its zone in brackets', '|1st|18:00 (KST)|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['6:00 PM KST', '|1st|6:00 PM KST|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    ['a bold time', '|1st|**18:00**|IU|A|||', entry({ title: 'A', types: [], links: [] })],
    // Emphasis, links and text
    ['two asterisks', '|1st|18:00|**IU**|**Love wins**|||', entry({ types: [], links: [] })],
    ['three asterisks', '|1st|18:00|***IU***|***Love wins***|||', entry({ types: [], links: [] })],
    ['underscores', '|1st|18:00|_IU_|__Love wins__|||', entry({ types: [], links: [] })],
    ['emphasis of a part', '|1st|18:00|IU *(solo)*|Love **wins**|||', entry({ artist: 'IU (solo)', types: [], links: [] })],
    ['emphasis within emphasis', '|1st|18:00|*IU*|*Love __wins__*|||', entry({ types: [], links: [] })],
    ['asterisks without a partner', '|1st|18:00|**IU*|*Love wins|||', entry({ types: [], links: [] })],
    ['a name of asterisks', '|1st|18:00|IU|\\*\\*\\*|||', entry({ title: '***', types: [], links: [] })],
    [
      'an escaped asterisk at the end',
      '|1st|18:00|IZ\\*ONE\\*|\\*A|||',
      entry({ artist: 'IZ*ONE*', title: '*A', types: [], links: [] }),
    ],
    [
      'an escaped asterisk at the end of emphasis',
      '|1st|18:00|*IZ\\*ONE\\**|**\\*A\\***|||',
      entry({ artist: 'IZ*ONE*', title: '*A*', types: [], links: [] }),
    ],
    [
      'an escaped asterisk beside a stray one',
      '|1st|18:00|IZ\\*ONE\\**|*\\*A|||',
      entry({ artist: 'IZ*ONE*', title: '*A', types: [], links: [] }),
    ],
    [
      'asterisks as entities',
      '|1st|18:00|IZ&#42;ONE&ast;|`*A*`|||',
      entry({ artist: 'IZ*ONE*', title: '*A*', types: [], links: [] }),
    ],
    ['an entity of an entity', '|1st|18:00|IU|&amp;lt; &amp;#42;|||', entry({ title: '&lt; &#42;', types: [], links: [] })],
    ['a title of stray asterisks', '|1st|18:00|IU|**|||', entry({ title: '**', types: [], links: [] })],
    ['a stray asterisk in the middle', '|1st|18:00|IU|A * B|||', entry({ title: 'A * B', types: [], links: [] })],
    ['a censored title', '|1st|18:00|IU|F\\*\\*k it|||', entry({ title: 'F**k it', types: [], links: [] })],
    ['a snake_case_name', '|1st|18:00|IU|snake_case_name|||', entry({ title: 'snake_case_name', types: [], links: [] })],
    ['a title that is a link', '|1st|18:00|IU|[Love wins](https://x/1)|||', entry({ types: [], links: [] })],
    ['a link in emphasis', '|1st|18:00|*[IU](/r/iu)*|*[Love wins](https://x/1)*|||', entry({ types: [], links: [] })],
    ['emphasis in a link', '|1st|18:00|[*IU*](/r/iu)|[**Love wins**](https://x/1)|||', entry({ types: [], links: [] })],
    ['a link with a title', '|1st|18:00|IU|[Love wins](https://x/1 "hint")|||', entry({ types: [], links: [] })],
    ['brackets that are no link', '|1st|18:00|IU|[Love wins]|||', entry({ title: '[Love wins]', types: [], links: [] })],
    ['a bar as an entity', '|1st|18:00|IU|Love &#124; wins|||', entry({ title: 'Love | wins', types: [], links: [] })],
    ['a bar as an entity in a link', '|1st|18:00|IU|[a &#124; b](/x)|||', entry({ title: 'a | b', types: [], links: [] })],
    ['a bar after a backslash', '|1st|18:00|IU|Love \\| wins|||', entry({ title: 'Love \\', types: [], links: [] })],
    [
      'a cell that ends in a backslash',
      '|1st|18:00|IU|Love wins\\|Single|[Love wins](/d1)|[Spotify](https://s/1)|',
      entry({ title: 'Love wins\\' }),
    ],
    [
      'tildes',
      '|1st|18:00|IU|<A> IN JAPAN ~2025.04.13 B~|||',
      entry({ title: '<A> IN JAPAN ~2025.04.13 B~', types: [], links: [] }),
    ],
    [
      'a lone backtick in a link',
      '|1st|18:00|IU|[If I am with you, it`s always spring](/x)|||',
      entry({ title: 'If I am with you, it`s always spring', types: [], links: [] }),
    ],
    [
      'code that does not end in its cell',
      '|1st|18:00|IU|a `b|Single|[c` d](/d1)|[Spotify](https://s/1)',
      entry({ title: 'a `b' }),
    ],
    ...[...'\u2028\u2029\u0085'].map((character): [string, string, object] => [
      `U+${character.charCodeAt(0).toString(16).padStart(4, '0')} in a text`,
      `|1st|18:00|IU|*Love${character}wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)`,
      entry(),
    ]),
    ...[...'\u200b\u00a0\ufeff\u2060\u200e'].map((character): [string, string, object] => [
      `U+${character.charCodeAt(0).toString(16).padStart(4, '0')} around its cells and before it`,
      `${character}|1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)`.replaceAll(
        /(?<!^.)\|/g,
        `${character}|${character}`,
      ),
      entry(),
    ]),
    ['U+000B, which the site does not show', '|1st|18:00|IU|Love \u000b wins|||', entry({ types: [], links: [] })],
    ['a lone surrogate', '|1st|18:00|IU|Love \ud800 wins|||', entry({ title: 'Love \ufffd wins', types: [], links: [] })],
    [
      'a link by reference, of which there is no definition',
      '|1st|18:00|IU|[a][1]|||',
      entry({ title: '[a][1]', types: [], links: [] }),
    ],
    ['an entity', '|1st|18:00|IU|You &amp; I|||', entry({ title: 'You & I', types: [], links: [] })],
    ['numeric entities', '|1st|18:00|IU|&#34;I&#x2764;U&quot;|||', entry({ title: '"I❤U"', types: [], links: [] })],
    ['an entity in code', '|1st|18:00|IU|`a &amp; b`|||', entry({ title: 'a &amp; b', types: [], links: [] })],
    ['a bare ampersand', '|1st|18:00|AKMU & IU|A|||', entry({ artist: 'AKMU & IU', title: 'A', types: [], links: [] })],
    [
      'words that begin like entities',
      '|1st|18:00|R&Bling &copycat|AT&T &notice &eacute;|||',
      entry({ artist: 'R&Bling &copycat', title: 'AT&T &notice é', types: [], links: [] }),
    ],
    ['a no-break space', '|1st|18:00|IU&nbsp;(아이유)|A|||', entry({ artist: 'IU (아이유)', title: 'A', types: [], links: [] })],
    ['a title that looks like HTML', '|1st|18:00|IU|<Palette>|||', entry({ title: '<Palette>', types: [], links: [] })],
    ['a struck title', '|1st|18:00|IU|~~Love wins~~|||', entry({ types: [], links: [] })],
    [
      'Hangul and emoji',
      '|1st|18:00|아이유|사랑이 지나가면 🎀|||',
      entry({ artist: '아이유', title: '사랑이 지나가면 🎀', types: [], links: [] }),
    ],
    ['no album title', '|1st|18:00|IU||Single|[Love wins](/d1)|', entry({ links: ['https://www.reddit.com/d1'] })],
    ['no title at all', '|1st|18:00|IU||Single||', entry({ title: '', links: [] })],
    ['a row that ends early', '|1st|18:00|IU|Love wins', entry({ types: [], links: [] })],
    // Types
    [
      'a full-length album',
      '|1st|18:00|IU|A|5th Full-Length Album||',
      entry({ title: 'A', types: ['album', 'full-length'], links: [] }),
    ],
    ['a mini album', '|1st|18:00|IU|A|1st Mini Album||', entry({ title: 'A', types: ['album', 'mini'], links: [] })],
    ['full-length without album', '|1st|18:00|IU|A|Full-length||', entry({ title: 'A', types: [], links: [] })],
    [
      'types in the order of the list',
      '|1st|18:00|IU|A|Holiday Cover Live Unit Debut Mixtape Remake Digital English Chinese Japanese Solo Remix Repackage||',
      entry({
        title: 'A',
        types: [
          ...['debut', 'repackage', 'remix', 'solo', 'japanese', 'chinese', 'english', 'digital', 'remake', 'mixtape'],
          ...['unit debut', 'live', 'cover', 'holiday'],
        ],
        links: [],
      }),
    ],
    [
      'several types in one',
      '|1st|18:00|IU|A|*Pre-release* Collab Single &amp; 10th Anniversary Comeback||',
      entry({ title: 'A', types: ['anniversary', 'comeback', 'pre-release', 'collab', 'single'], links: [] }),
    ],
    // Links
    [
      'links without spaces between',
      '|1st|18:00|IU|A|||[S](https://s/1)/[Y](https://y/2)',
      entry({ title: 'A', types: [], links: ['https://s/1', 'https://y/2'] }),
    ],
    [
      'links with spaces between',
      '|1st|18:00|IU|A|||[S](https://s/1) / [Y](https://y/2)',
      entry({ title: 'A', types: [], links: ['https://s/1', 'https://y/2'] }),
    ],
    ['a bare URL', '|1st|18:00|IU|A|||https://s.to/1', entry({ title: 'A', types: [], links: ['https://s.to/1'] })],
    [
      'an entity in a URL',
      '|1st|18:00|IU|A|||[S](https://s/1?a=1&amp;b=2)',
      entry({ title: 'A', types: [], links: ['https://s/1?a=1&b=2'] }),
    ],
    [
      'parameters in a URL that begin like entities',
      '|1st|18:00|IU|A|||[S](https://s/?i=2&region=kr&copy=1&timestamp=3&amp;x=1) / https://t.to/?a=1&copy=2&not=3',
      entry({
        title: 'A',
        types: [],
        links: ['https://s/?i=2&region=kr&copy=1&timestamp=3&x=1', 'https://t.to/?a=1&copy=2&not=3'],
      }),
    ],
    [
      'a parameter at the end of a URL that begins like an entity',
      '|1st|18:00|IU|A||[T](/d1?utm_source=share&para)|[S](https://s/?a=1&amp)',
      entry({ title: 'A', types: [], links: ['https://s/?a=1&amp', 'https://www.reddit.com/d1?utm_source=share&para'] }),
    ],
    [
      'brackets in a URL',
      '|1st|18:00|IU|A|||[S](https://s/a_(b\\))',
      entry({ title: 'A', types: [], links: ['https://s/a_(b)'] }),
    ],
    [
      'a link that leads nowhere',
      '|1st|18:00|IU|A|||[S]() / [Y](https://y/2)',
      entry({ title: 'A', types: [], links: ['https://y/2'] }),
    ],
    ['a name without a link', '|1st|18:00|IU|A|||Spotify', entry({ title: 'A', types: [], links: [] })],
    ['a link that is no page', '|1st|18:00|IU|A|||[S](javascript:alert(1))', entry({ title: 'A', types: [], links: [] })],
    [
      'a thread with its full address',
      '|1st|18:00|IU|A||[T](https://redd.it/1)|[S](https://s/1)',
      entry({ title: 'A', types: [], links: ['https://s/1', 'https://redd.it/1'] }),
    ],
    [
      'two threads',
      '|1st|18:00|IU|A||[T](/1) / [U](/2)|',
      entry({ title: 'A', types: [], links: ['https://www.reddit.com/1', 'https://www.reddit.com/2'] }),
    ],
    [
      'a link in emphasis in Streaming',
      '|1st|18:00|IU|A|||**[S](https://s/1)**',
      entry({ title: 'A', types: [], links: ['https://s/1'] }),
    ],
  ])('%s', (_what, row, expected) => {
    expect(read(row)).toEqual({ entries: [expected], reports: [], leftOut: [], notes: [] })
  })

  it.each(['~18:00', '18:00?', '25:00', 'evening', '18:00 / 20:00', '18:00 EST', '6'])(
    'has no time for "%s", which is reported',
    (time) => {
      expect(read(`|1st|${time}|IU|Love wins|Single||`)).toEqual({
        entries: [entry({ time: '--:--', links: [] })],
        reports: [],
        leftOut: [],
        notes: [{ line: 5, reason: `"${time}" is not a time of day; the entry has no time` }],
      })
    },
  )

  it.each([
    ['1st/2nd', '1/2'],
    ['~5th', '~5'],
    ['Feb 1st', 'Feb 1'],
    ['1st half', '1 half'],
  ])('has no single day for "%s", which is reported', (day, written) => {
    expect(read(`|${day}|18:00|IU|Love wins|Single||`)).toMatchObject({
      entries: [{ date: `2024-02-${written}` }],
      reports: [],
      notes: [{ line: 5, reason: `"${day}" is not a single day; the date contains it as written` }],
    })
  })

  it('is published without an extra cell, as on the site, which is reported', () => {
    expect(read('|1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify](https://s/1)|new!')).toEqual({
      entries: [entry()],
      reports: [],
      leftOut: [],
      notes: [{ line: 5, reason: 'its cell beyond the last column is ignored: "new!"' }],
    })
  })

  it('that is reported still passes its day to the rows below', () => {
    const { entries, reports } = read(
      '|1st|18:00|A|a|||\n|2nd|19:00|B|[b | c](/x)|||\n|||C|c|||\n|3rd|1:00|D|d|e|f|g|h|i\n|||E|e|||',
    )
    expect(entries.map(({ artist, date, time }) => [artist, date, time])).toEqual([
      ['A', '2024-02-1', '18:00'],
      ['C', '2024-02-2', '19:00'],
      ['E', '2024-02-3', '01:00'],
    ])
    expect(reports.map(({ line }) => line)).toEqual([6, 8])
  })

  it('resolves the links that the page defines', () => {
    expect(read('|1st|18:00|*IU*|*Love wins*|Single|[Love wins](/d1)|[Spotify][s]\n\n[s]: https://s/1').entries).toEqual([
      entry(),
    ])
  })

  it.each(['TBA', '?', 'Late'])('does not report an unknown day: "%s"', (day) => {
    expect(read(`|${day}||IU|Love wins|Single||`)).toMatchObject({ entries: [{ date: `2024-02-${day}` }], notes: [] })
  })

  it.each<[what: string, row: string, reason: string]>([
    ['without a day above it', '||18:00|IU|A|||', 'neither it nor a row above it has a day'],
    ['with a day that the month does not have', '|30th|18:00|IU|A|||', '"30th" is not a day of the month'],
    ['with day 0', '|0|18:00|IU|A|||', '"0" is not a day of the month'],
    [
      'with a text for a day',
      '|sometime in the middle of it|18:00|IU|A|||',
      '"sometime in the middle of it" is not a day of the month',
    ],
    ['without an artist', '|1st|18:00||A|||', 'it has no artist'],
    [
      'with two cells too many',
      '|1st|18:00|IU|a | b | c|Single|[T](/1)|[S](https://s)',
      'it has more cells than the table has columns (7); write a "|" in a text as "&#124;"',
    ],
    [
      'with a bar in the text of a link',
      '|1st|18:00|IU|a|Single|[T | U](/1)|[S](https://s)',
      'a "|" in the text of a link ends the cell; write it as "&#124;"',
    ],
    [
      'with an escaped bar in the text of a link',
      '|1st|18:00|IU|a|Single|[T \\| U](/1)|[S](https://s)',
      'a "|" in the text of a link ends the cell; write it as "&#124;"',
    ],
    ['of bars alone', '|||||||', 'it is empty'],
    ['that is a line', '|--|--|--|--|--|--|--', 'it is a separator line'],
    ['that is a header', '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming', 'it is a header'],
    ['longer than any row', `|1st|18:00|IU|${'x'.repeat(5000)}|||`, 'it is not in a valid table'],
  ])('is reported %s', (_what, row, reason) => {
    expect(read(row)).toEqual({ entries: [], reports: [{ line: 5, reason }], leftOut: [], notes: [] })
  })
})

describe('a page of the wiki', () => {
  const moments = (text: string) => readMonthPage(text, february).entries.map(({ date, time, artist }) => [date, time, artist])

  it('inherits day and time from the row above if they are blank', () => {
    const rows = [
      '|1st|12:00|A|t|||',
      '|||B|t|||',
      '||18.00|C|t|||',
      '|||D|t|||',
      '||?|E|t|||',
      '|||F|t|||',
      '|2nd|13:00|G|t|||',
      '|||H|t|||',
      '|3rd||I|t|||',
      '|TBA||J|t|||',
      '|||K|t|||',
    ]
    expect(moments(head + rows.join('\n'))).toEqual([
      ['2024-02-1', '12:00', 'A'],
      ['2024-02-1', '12:00', 'B'],
      ['2024-02-1', '18:00', 'C'],
      ['2024-02-1', '18:00', 'D'],
      ['2024-02-1', '--:--', 'E'],
      ['2024-02-1', '--:--', 'F'],
      ['2024-02-2', '13:00', 'G'],
      ['2024-02-2', '13:00', 'H'],
      ['2024-02-3', '13:00', 'I'],
      ['2024-02-TBA', '--:--', 'J'],
      ['2024-02-TBA', '--:--', 'K'],
    ])
  })

  it('has no time if the time that it inherits cannot be parsed', () => {
    const rows = ['|1st|12:00|A|t|||', '||~18:00|B|t|||', '|||C|t|||', '|2nd||D|t|||', '||19:00|E|t|||', '|||F|t|||']
    const { entries, notes } = read(rows.join('\n'))
    expect(entries.map(({ time }) => time)).toEqual(['12:00', '--:--', '--:--', '--:--', '19:00', '19:00'])
    expect(notes).toEqual([
      { line: 6, reason: '"~18:00" is not a time of day; the entry has no time' },
      { line: 7, reason: 'the time above it, "~18:00", is not a time of day; the entry has no time' },
      { line: 8, reason: 'the time above it, "~18:00", is not a time of day; the entry has no time' },
    ])
  })

  it('passes no other day to the rows below a wrong one', () => {
    const { entries, reports } = read('|1st|12:00|A|t|||\n|33rd|13:00|B|t|||\n|||C|t|||\n|4th||D|t|||')
    expect(entries.map(({ artist, date, time }) => [artist, date, time])).toEqual([
      ['A', '2024-02-1', '12:00'],
      ['D', '2024-02-4', '--:--'],
    ])
    expect(reports.map(({ line }) => line)).toEqual([6, 7])
  })

  it('reads several tables without inheritance between them, and leaves out soundtracks', () => {
    const page = [
      '#February 2024',
      'Rules are [here](/r/kpop/wiki/rules).',
      '',
      '###Scheduled Releases:',
      '',
      head.trimEnd(),
      '|1st|18:00|A|a|Single||',
      '',
      '### Announced Releases:',
      '',
      head.trimEnd(),
      '|TBA||B|b|Single||',
      '',
      '|||C|c|Single||',
      '###OSTs',
      '',
      head.trimEnd(),
      '|1st|18:00|D|d|OST||',
      '||||||||',
      '',
      '## Others',
      '',
      '|Artist|Album|',
      '|-|-|',
      '|E|e|',
    ].join('\r\n')
    expect(readMonthPage(page, february)).toMatchObject({
      entries: [
        { artist: 'A', date: '2024-02-1', time: '18:00' },
        { artist: 'B', date: '2024-02-TBA', time: '--:--' },
      ],
      reports: [
        { line: 16, reason: 'it is not in a valid table' },
        { line: 28, reason: 'its table has no columns Day and Artist' },
      ],
      leftOut: [{ line: 21 }, { line: 22 }],
    })
  })

  it.each<[heading: string, soundtracks: boolean]>([
    ['### OSTs', true],
    ['### OST:', true],
    ['###**OSTs**', true],
    ['### [OSTs](#osts)', true],
    ['## 🎬 OST Releases 🎬', true],
    ['### Scheduled OSTs:', true],
    ['### Drama OSTs:', true],
    ['### Soundtracks', true],

    ['###OSTs & Soundtracks', true],
    ['###OST (February)', true],
    ['##OST Albums', true],
    ['###OST Tracks', true],
    ['### The soundtrack of the month', true],
    ['### Scheduled Releases (OSTs at the bottom):', true],
    ['### Most awaited', false],
    ['### Ostara', false],
  ])('under "%s" leaves rows out: %s', (heading, soundtracks) => {
    const { entries, reports, leftOut } = readMonthPage(`${heading}\n\n${head}|1st|18:00|A|a|OST||\n`, february)
    expect([entries.length, reports.length, leftOut.length]).toEqual(soundtracks ? [0, 0, 1] : [1, 0, 0])
  })

  it('reads a table directly below another, without an entry for its header', () => {
    expect(moments(`${head}|1st|18:00|A|a|||\n${head}|2nd||B|b|||\n|||C|c|||`)).toEqual([
      ['2024-02-1', '18:00', 'A'],
      ['2024-02-2', '--:--', 'B'],
      ['2024-02-2', '--:--', 'C'],
    ])
  })

  it.each([
    [
      'without Streaming',
      '|Day|Time|Artist|Album Title|Album Type|Title Track\n|--|--|--|--|--|--\n|1st|18:00|A|a|Single|[T](/1)',
    ],
    [
      'without Streaming in the header only',
      '|Day|Time|Artist|Album Title|Album Type|Title Track\n|--|--|--|--|--|--\n|1st|18:00|A|a|Single|[T](/1)|[S](https://s)',
    ],
    [
      'without Time',
      '|Day|Artist|Album Title|Album Type|Title Track|Streaming\n|--|--|--|--|--|--\n|1st|A|a|Single|[T](/1)|[S](https://s)',
    ],
    [
      'with its columns in another order',
      '|Artist|Day|Streaming|Title Track|Time|Album Type|Album Title|\n|-|-|-|-|-|-|-|\n|A|1st|[S](https://s)|[T](/1)|18:00|Single|a',
    ],
    [
      'with a delimiter that is too short',
      '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming\n|--|--\n|1st|18:00|A|a|Single|[T](/1)|[S](https://s)',
    ],
    [
      'with a delimiter that is too long',
      '|Day|Time|Artist|Album Title|Album Type|Title Track|Streaming\n|:-|:-:|-|-|-|-|-|-|-|-|\n|1st|18:00|A|a|Single|[T](/1)|[S](https://s)',
    ],
    [
      'with a bold header',
      '|**Day**|**Time**|**Artist**|**Album Title**|**Album Type**|**Title Track**|**Streaming**\n|-|-|-|-|-|-|-|\n|1st|18:00|A|a|Single|[T](/1)|[S](https://s)',
    ],
  ])('reads a table %s', (what, table) => {
    const links = what === 'without Streaming' ? ['https://www.reddit.com/1'] : ['https://s', 'https://www.reddit.com/1']
    expect(readMonthPage(table, february)).toEqual({
      entries: [
        {
          date: '2024-02-1',
          time: what === 'without Time' ? '--:--' : '18:00',
          artist: 'A',
          title: 'a',
          types: ['single'],
          links,
        },
      ],
      reports: [],
      leftOut: [],
      notes: [],
    })
  })

  it('pads the month, but not the day', () => {
    expect(read('|1st||A|a|||', '2017-03').entries[0]?.date).toBe('2017-03-1')
    expect(read('|31st||A|a|||', '2017-12').entries[0]?.date).toBe('2017-12-31')
  })
})

describe('the columns of a table', () => {
  /** What the only row of a table has, each cell after the name of its column. */
  const readTable = (names: readonly string[]) => {
    const cells = names.map((name) =>
      /day|date/i.test(name) ? '1st' : /time/i.test(name) ? '18:00' : /type/i.test(name) ? 'Single' : `[${name}](/${name})`,
    )
    return readMonthPage(`|${names.join('|')}|\n|${names.map(() => '--').join('|')}|\n|${cells.join('|')}|\n`, february)
  }

  it.each([
    [['Day', 'Artist', 'Album Title', 'Title Track', 'Streaming'], { title: 'Album Title', links: ['Streaming', 'Title Track'] }],
    [
      ['Date', 'Artists', 'Sub-Title', 'Title', 'Track 1', 'Links'],
      { artist: 'Artists', title: 'Title', links: ['Links', 'Track 1'] },
    ],
    [['Day', 'Artist', 'Release Info', 'Release', 'Song', 'Link'], { title: 'Release', links: ['Link', 'Song'] }],
    [['Day', 'Artist', 'New Album Title', 'Album'], { title: 'Album', links: [] }],
    [['Day', 'Artist', 'New Title Track', 'Non-Track', 'Song'], { title: 'Song', links: ['Song'] }],
    [['Day', 'Featured Artist', 'Artist'], { artist: 'Artist', title: '', links: [] }],
    [['Day', 'Artist', 'Upstream', 'Uplink', 'Backlinks', 'Link'], { title: '', links: ['Link'] }],
  ])('are found by their names: %j', (names, expected) => {
    const links = expected.links.map((name) => `https://www.reddit.com/${encodeURIComponent(name)}`)
    const base = { date: '2024-02-1', time: '--:--', artist: 'Artist', types: [] }
    expect(readTable(names).entries).toEqual([{ ...base, ...expected, links }])
  })

  it.each([
    [['Day', 'Runtime', 'Time', 'Artist'], { time: '18:00' }],
    [['Day', 'Runtime', 'Artist'], { time: '--:--' }],
    [['Birthday', 'Day', 'Artist'], { date: '2024-02-1' }],
    [['Day', 'Artist', 'Album Type'], { types: ['single'] }],
    [['Day', 'Artist', 'Release Type'], { types: ['single'] }],
    [['Day', 'Artist', 'Type'], { types: ['single'] }],
    [['Day', 'Artist', 'New Album Type'], { types: [] }],
    [['Day', 'Artist', 'Subtype'], { types: [] }],
    [['Day', 'Artist', 'Type of Song'], { types: [] }],
  ])('with a value each: %j', (names, expected) => {
    expect(readTable(names).entries).toMatchObject([expected])
  })

  it.each([[['Birthday', 'Artist']], [['Day', 'The Artist']], [['Day', 'Time']], [['Days', 'Artist']]])(
    'are missing: %j',
    (names) => {
      const { entries, reports } = readTable(names)
      expect(entries).toEqual([])
      expect(reports).toEqual([{ line: 3, reason: 'its table has no columns Day and Artist' }])
    },
  )

  it('named "+" collect cells beyond the last one', () => {
    const rows = '|Day|Artist|+|\n|--|--|--|\n|1st|IU|[Spotify](https://s.example/1)|\n'
    expect(readMonthPage(rows, february).entries).toMatchObject([{ artist: 'IU', links: ['https://s.example/1'] }])
    const named = rows.replace('+', 'Notes')
    expect(readMonthPage(named, february).entries).toMatchObject([{ artist: 'IU', links: [] }])
  })
})

it('reports rows in the order of the page, with what is struck out and what is left out', () => {
  const page = `|stray|row|
|Day|Artist|Title|
|--|--|--|
|1st|~~IU~~|Love|
|1st||Nobody|

|stray|again|

### OST

|Day|Artist|Title|
|--|--|--|
|1st|IU|Song|
`
  expect(readMonthPage(page, february)).toEqual({
    entries: [],
    notes: [],
    leftOut: [{ line: 13, reason: 'it is in the table of soundtracks' }],
    reports: [
      { line: 1, reason: 'it is not in a valid table' },
      { line: 4, reason: 'it is struck out', cancelled: { artist: 'IU', title: 'Love' } },
      { line: 5, reason: 'it has no artist' },
      { line: 7, reason: 'it is not in a valid table' },
    ],
  })
})
