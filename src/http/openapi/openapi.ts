import { isRecord } from '../../util/is-record.ts'

/** A part of an OpenAPI document. */
type Part = Readonly<Record<string, unknown>>

const capitalise = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const words = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map(capitalise)
    .join('')

/** The operationId of GET of a route's pattern: `/api/v1/servers/:name/getall` is `getServersGetallByName`. */
export function operationId(pattern: string): string {
  const segments = pattern.split('/').filter((segment) => !['', 'api', 'v1'].includes(segment))
  const isParameter = (segment: string) => segment.startsWith(':')
  const path = segments.filter((segment) => !isParameter(segment)).map(words)
  const parameters = segments.filter(isParameter).map((name) => `By${words(name)}`)
  return ['get', ...path, ...parameters].join('')
}

/**
 * Moves each schema with a title into `components.schemas`, under the title as one word, and replaces it with a reference, so
 * that generated clients get one named type for it. Replies without an example get that of their schema.
 * @throws Error if two different schemas have the same title
 */
export function nameSchemas<Document extends object>(document: Document): Document {
  const schemas: Record<string, unknown> = {}

  function register(schema: Part, title: string): Part {
    const name = words(title)
    const before = schemas[name]
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema)) {
      throw new Error(`Two different schemas have the title "${title}"`)
    }
    schemas[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }

  /** @param parent key of the object that has it */
  function visit(given: unknown, key: string, parent = ''): unknown {
    if (Array.isArray(given)) return given.map((item) => visit(item, key))
    if (!isRecord(given)) return given
    const value = parent === 'content' ? withExample(given) : given
    // Examples are data, whatever their keys are.
    const entries = Object.entries(value).map(([name, part]) => {
      const isData = name === 'example' || name === 'examples' || name === 'default' || name === 'enum'
      return [name, isData ? part : visit(part, name, key)] as const
    })
    const part: Part = Object.fromEntries(entries)
    const { title } = part
    // A property may be named `title` too.
    return typeof title === 'string' && key !== 'info' ? register(part, title) : part
  }

  const named = visit(document, '') as Part
  return { ...named, components: { ...(isRecord(named.components) ? named.components : {}), schemas } } as unknown as Document
}

/** A media type with an example, if its schema has one. */
function withExample(media: Part): Part {
  if ('example' in media || !isRecord(media.schema)) return media
  const { examples } = media.schema
  return Array.isArray(examples) ? { ...media, example: examples[0] } : media
}
