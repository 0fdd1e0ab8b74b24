import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'

const maxBatch = 100

/** Returns the result of a method; undefined if the method does not exist. */
type Run = (method: string) => { readonly result: unknown } | undefined

const failure = (id: unknown, code: number, message: string, data?: string): object => ({
  ...{ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } },
})
const invalidRequest = failure(null, -32_600, 'Invalid Request')

const isId = (id: unknown): boolean => id === undefined || id === null || typeof id === 'string' || typeof id === 'number'

/** A call without an id is a notification, which gets no reply. */
function answerOne(call: unknown, run: Run): object | undefined {
  if (!isRecord(call) || typeof call.method !== 'string' || call.jsonrpc !== '2.0' || !isId(call.id)) return invalidRequest
  const { id, method } = call
  const done = run(method)
  if (id === undefined) return undefined
  if (done === undefined) return failure(id, -32_601, 'Method not found', `Method not found: ${method}`)
  return { jsonrpc: '2.0', id, result: done.result }
}

/**
 * Returns the reply to one JSON-RPC 2.0 message, a call or a batch; undefined if there is none.
 * @see https://www.jsonrpc.org/specification
 */
export function answerJsonRpc(text: string, run: Run): string | undefined {
  let message: unknown
  try {
    message = parseJson(text)
  } catch {
    return JSON.stringify(failure(null, -32_700, 'Parse error'))
  }
  if (!Array.isArray(message)) return JSON.stringify(answerOne(message, run))
  if (message.length === 0 || message.length > maxBatch) return JSON.stringify(invalidRequest)
  const answers = message.flatMap((call) => answerOne(call, run) ?? [])
  return answers.length === 0 ? undefined : JSON.stringify(answers)
}
