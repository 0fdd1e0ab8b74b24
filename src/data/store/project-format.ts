import { isRecord } from '../../util/is-record.ts'
import { type Static, Type } from '../../util/schema.ts'
import { createSnapshotFormat, listOf } from './snapshot-format.ts'

const recordOf = <T>(values: object, description: string) =>
  Type.Unsafe<Readonly<Record<string, T>>>({ type: 'object', additionalProperties: values, description })

/** One project as served. */
export const Project = Type.Object(
  {
    title: Type.String(),
    description: Type.String(),
    status: Type.String({ description: 'For example alpha, beta or release' }),
    statuscolor: Type.String(),
    categories: Type.Array(Type.String()),
    languages: recordOf<number>(Type.Integer({ minimum: 0 }), 'Bytes of code by language'),
    gh_api: Type.String({ description: '<owner>/<repository>' }),
    version: Type.String(),
    backgroud: Type.String({ description: 'Path of the background image' }),
    links: recordOf<string>(Type.String(), 'By key: GH, WB, MR, CF'),
    visible: Type.Boolean(),
    last_update: Type.Union([Type.Integer(), Type.Null()], { description: 'Unix time in seconds; null if it is unknown' }),
  },
  {
    title: 'Project',
    examples: [
      {
        title: 'Lanternfish',
        description: 'Invented sample project: lights that follow the player',
        status: 'beta',
        statuscolor: 'orange',
        categories: ['minecraft', 'fabric'],
        languages: { Java: 48210, Shell: 312 },
        gh_api: 'example/lanternfish',
        version: '0.4.1',
        backgroud: '/backgrounds/lanternfish.png',
        links: { GH: 'https://github.com/example/lanternfish' },
        visible: true,
        last_update: 1700000000,
      },
    ],
  },
)
export type Project = Static<typeof Project>

/** Some files have null instead of an empty text. */
const text = (value: unknown): unknown => value ?? ''

/** Some files have the amounts as strings. */
function amounts(value: unknown): unknown {
  if (!isRecord(value)) return value ?? {}
  const entries = Object.entries(value).filter(([, amount]) => amount !== null)
  return Object.fromEntries(
    entries.map(([name, amount]) => [name, typeof amount === 'string' && /^\d{1,15}$/.test(amount) ? Number(amount) : amount]),
  )
}

function links(value: unknown): unknown {
  if (!isRecord(value)) return value ?? {}
  return Object.fromEntries(Object.entries(value).filter(([, link]) => link !== null))
}

/** projects.json. A project without a title is a blank template, which is never served. */
export const projectFormat = createSnapshotFormat(Project, (element) => {
  const title = element.title === null ? '' : (element.title ?? null)
  return {
    title,
    description: text(element.description),
    status: text(element.status),
    statuscolor: text(element.statuscolor),
    categories: listOf(element.categories),
    languages: amounts(element.languages),
    gh_api: text(element.gh_api),
    version: text(element.version),
    backgroud: text(element.backgroud),
    links: links(element.links),
    visible: title === '' ? false : (element.visible ?? null),
    last_update: element.last_update ?? element.updated ?? null,
  }
})
