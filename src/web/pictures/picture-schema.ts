import { type Parameters, query } from '../../http/parameters.ts'
import { problem, problems } from '../../http/replies/problem.ts'
import { preparedReplies } from '../../http/replies/responses.ts'
import type { ServerPlace } from '../../http/server-place.ts'
import { type TSchema, Type } from '../../util/schema.ts'
import type { Picture } from './renderer.ts'

/** The first bytes of each type, as text. */
const examples: Readonly<Record<Picture['type'], string>> = {
  'image/png': '\x89PNG',
  'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"/>',
}

/** The description of a picture. */
export interface PictureDocs<P extends Parameters> {
  readonly summary: string
  readonly description: string
  readonly type: Picture['type']
  readonly parameters: P
  readonly params?: Record<string, TSchema>
  /** Example detail of an invalid parameter. */
  readonly mistake: string
}

/** The schema of the route of a picture. */
export const pictureSchema = <P extends Parameters>(place: ServerPlace, docs: PictureDocs<P>) => ({
  tags: [place.tag],
  summary: docs.summary,
  description: docs.description,
  ...((place.params || docs.params) && { params: Type.Object({ ...place.params?.properties, ...docs.params }) }),
  querystring: query(docs.parameters),
  response: {
    ...preparedReplies({
      description: docs.summary,
      content: { [docs.type]: { schema: Type.String({ format: 'binary' }), example: examples[docs.type] } },
    }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail: docs.mistake }),
    ...(place.params && problems(404)),
    ...problems(429),
    ...problem(503, { code: 'TOO_MANY_PICTURES', detail: 'Too many pictures are being rendered; try again in a moment.' }),
  },
})
