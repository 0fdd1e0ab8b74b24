import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'

/** Returns the result of a method; undefined if the method does not exist. */
type Run = (method: string) => { readonly result: unknown } | undefined

const failure = (id: unknown, code: number, message: string, data?: string): object => ({
  ...{ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } },
})

function answer(text: string, run: Run): object | undefined {
  let call: unknown
  try {
    call = parseJson(text)
  } catch {
    return failure(null, -32_700, 'Parse error')
  }
  if (!isRecord(call) || typeof call.method !== 'string' || call.jsonrpc !== '2.0')
    return failure(null, -32_600, 'Invalid Request')
  const { id, method } = call
  const done = run(method)
  // A call without an id is a notification.
  if (id === undefined) return undefined
  if (done === undefined) return failure(id, -32_601, 'Method not found', `Method not found: ${method}`)
  return { jsonrpc: '2.0', id, result: done.result }
}

/**
 * Returns the reply to one call by JSON-RPC 2.0; undefined if there is none. Batches are refused: no client sends them.
 * @see https://www.jsonrpc.org/specification
 */
export const answerJsonRpc = (text: string, run: Run): string | undefined => JSON.stringify(answer(text, run))
