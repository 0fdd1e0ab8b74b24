import type { OpenApi, Operation } from './service.ts'
import { code, table } from './table.ts'

const ofOneServer = '/api/v1/servers/{name}'

function parametersOf({ parameters = [] }: Operation): string {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return inQuery.map(({ name, required }) => (required ? code(name) : `[${code(name)}]`)).join(', ')
}

const rows = ({ paths }: OpenApi, isIncluded: (path: string) => boolean) =>
  Object.entries(paths)
    .filter(([path]) => isIncluded(path) && !path.startsWith(`${ofOneServer}/`))
    .map(([path, { get }]) => [code(path), parametersOf(get), get.summary])

/** Every route whose path matches, with its query parameters; optional ones in brackets. */
export const routeTable = (openapi: OpenApi, isIncluded: (path: string) => boolean): string =>
  table(['route', 'parameters', 'returns'], ...rows(openapi, isIncluded))
