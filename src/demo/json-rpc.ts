import { parseJson } from '../util/json.ts'

const maxBatch = 100

/** A valid call; `id` is absent for a notification, which gets no reply. */
interface Call {
  readonly method: string
  readonly id?: string | number | null
}

function failure(id: string | number | null, code: number, message: string, data?: string): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

function readCall(value: unknown): Call | undefined {
  if (typeof value !== 'object' || value === null || !('method' in value) || typeof value.method !== 'string') return undefined
  if (!('jsonrpc' in value) || value.jsonrpc !== '2.0') return undefined
  if (!('id' in value)) return { method: value.method }
  const { id } = value
  return typeof id === 'string' || typeof id === 'number' || id === null ? { method: value.method, id } : undefined
}

function answerOne(value: unknown, run: (method: string) => { readonly result: unknown } | undefined): object | undefined {
  const call = readCall(value)
  if (call === undefined) return failure(null, -32_600, 'Invalid Request')
  const done = run(call.method)
  if (call.id === undefined) return undefined
  if (done === undefined) return failure(call.id, -32_601, 'Method not found', `Method not found: ${call.method}`)
  return { jsonrpc: '2.0', id: call.id, result: done.result }
}

/**
 * Returns the reply to one JSON-RPC 2.0 message, a call or a batch; undefined if there is none.
 * @param run returns the result of a method; undefined if the method does not exist
 * @see https://www.jsonrpc.org/specification
 */
export function answerJsonRpc(
  text: string,
  run: (method: string) => { readonly result: unknown } | undefined,
): string | undefined {
  let message: unknown
  try {
    message = parseJson(text)
  } catch {
    return JSON.stringify(failure(null, -32_700, 'Parse error'))
  }
  if (!Array.isArray(message)) {
    const answer = answerOne(message, run)
    return answer && JSON.stringify(answer)
  }
  if (message.length === 0 || message.length > maxBatch) return JSON.stringify(failure(null, -32_600, 'Invalid Request'))
  const answers = message.map((value) => answerOne(value, run)).filter((answer) => answer !== undefined)
  return answers.length === 0 ? undefined : JSON.stringify(answers)
}
