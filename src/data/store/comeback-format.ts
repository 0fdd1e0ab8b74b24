import { type Static, Type } from '../../util/schema.ts'
import { formatDay } from './dates.ts'
import { createSnapshotFormat, listOf } from './snapshot-format.ts'

/** One comeback as served. */
export const Comeback = Type.Object(
  {
    date: Type.String({ description: 'Date in KST (UTC+09:00) as written, such as 2019-11-1 or 2019-11-TBA' }),
    time: Type.String({ description: 'Time in KST; --:-- if it is unknown' }),
    artist: Type.String(),
    title: Type.String(),
    types: Type.Array(Type.String()),
    links: Type.Array(Type.String()),
  },
  {
    title: 'Comeback',
    examples: [
      {
        date: '2019-11-1',
        time: '18:00',
        artist: 'Sample Artist 1',
        title: 'Sample Song 1',
        types: ['album', 'digital'],
        links: ['https://example.org/listen/1'],
      },
    ],
  },
)
export type Comeback = Static<typeof Comeback>

/** Resolves dates of the form `today+N`, which the sample uses so that it always has upcoming entries. */
function dateOf(value: unknown, today: number | undefined): unknown {
  const ahead = today !== undefined && typeof value === 'string' ? /^today\+(\d{1,3})$/.exec(value) : null
  return ahead === null ? value : formatDay((today ?? 0) + Number(ahead[1]))
}

/** kcomebacks.json, oldest entry first. */
export const comebackFormat = createSnapshotFormat(Comeback, (element, today) => ({
  date: dateOf(element.date ?? null, today),
  time: element.time ?? '--:--',
  artist: element.artist ?? null,
  title: element.title ?? null,
  types: listOf(element.types),
  links: listOf(element.links),
}))
