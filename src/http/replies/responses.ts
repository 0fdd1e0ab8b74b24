import { type TSchema, Type } from '../../util/schema.ts'
import { problems } from './problem.ts'

/** Headers of a reply by name, for its schema. */
export type HeaderDocs = Readonly<Record<string, { readonly type: string; readonly description: string }>>

export interface Media {
  readonly schema: TSchema
  /** Default: the first example of the schema. */
  readonly example?: unknown
}

export interface ReplyDocs {
  readonly description: string
  /** By media type. */
  readonly content: Readonly<Record<string, Media>>
  readonly headers?: HeaderDocs
}

const etag: HeaderDocs = { ETag: { type: 'string', description: 'Tag of the reply, for If-None-Match' } }

/** Date of the data, for `If-Modified-Since`. */
export const lastModified: HeaderDocs = {
  'Last-Modified': { type: 'string', description: 'When the data was updated, for If-Modified-Since' },
}

/** The reply of a route that sends it with `sendPrepared`: 200, 304 and, for a query that is not valid, 400. */
export const preparedReplies = ({ description, content, headers = {} }: ReplyDocs) => ({
  200: { description, headers: { ...etag, ...headers }, content },
  304: { description: 'The client already has the newest reply', type: 'null', headers: { ...etag, ...headers } },
  ...problems(400),
})

/** Content of one JSON type. */
export const json = (schema: TSchema, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})

/** Content of plain text. */
export const text = (example: string) => ({ 'text/plain': { schema: Type.String(), example } })
