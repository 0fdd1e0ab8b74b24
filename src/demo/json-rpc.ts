import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'

/** What returns the result of each method. */
type Methods = ReadonlyMap<string, () => unknown>

const failure = (id: unknown, code: number, message: string, data?: string): object => ({
  ...{ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } },
})

function answer(text: string, methods: Methods): object | undefined {
  let call: unknown
  try {
    call = parseJson(text)
  } catch {
    return failure(null, -32_700, 'Parse error')
  }
  if (!isRecord(call) || typeof call.method !== 'string' || call.jsonrpc !== '2.0')
    return failure(null, -32_600, 'Invalid Request')
  const { id, method } = call
  // A call without an id is a notification.
  if (id === undefined) return undefined
  const read = methods.get(method)
  if (read === undefined) return failure(id, -32_601, 'Method not found', `Method not found: ${method}`)
  return { jsonrpc: '2.0', id, result: read() }
}

/**
 * Returns the reply to one call by JSON-RPC 2.0; undefined if there is none. Batches are refused: no client sends them.
 * @see https://www.jsonrpc.org/specification
 */
export const answerJsonRpc = (text: string, methods: Methods): string | undefined => JSON.stringify(answer(text, methods))
