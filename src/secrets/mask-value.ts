import { hidden, type Mask } from './mask.ts'

const maxDepth = 16
/** Smaller numbers are never a secret. */
const minNumber = 1_000

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Bytes without secrets, by the mask that found none: an icon is the same object until it changes. */
const clean = new WeakMap<Buffer, Mask>()

function isClean(bytes: Buffer, mask: Mask): boolean {
  if (clean.get(bytes) === mask) return true
  const text = bytes.toString('latin1')
  if (mask(text) !== text) return false
  clean.set(bytes, mask)
  return true
}

/** Masks an error and its causes in place, because its identity may matter. Codes are not free text. */
function maskError(error: Error, mask: Mask, depth: number): void {
  const members = error as unknown as Record<string, unknown>
  const { message } = error
  for (const key of Object.getOwnPropertyNames(error)) {
    // To read the stack takes long; it has no other free text than the message.
    if (key === 'code' || key === 'name' || key === 'stack') continue
    const value = members[key]
    const masked = maskValue(value, mask, depth - 1)
    if (masked !== value) members[key] = masked
  }
  if (error.message !== message) members.stack = mask(error.stack ?? '')
}

/**
 * Masks every text of a value made of plain objects, arrays and errors, keys included. Returns the value itself if it contains no
 * secret. A number that is a secret and bytes that contain one become undefined, and so does what is nested too deeply.
 */
export function maskValue(value: unknown, mask: Mask, depth = maxDepth): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') {
    return Number.isInteger(value) && value >= minNumber && mask(String(value)) === hidden ? undefined : value
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return undefined
  if (Buffer.isBuffer(value)) return isClean(value, mask) ? value : undefined
  if (Array.isArray(value)) {
    const items = value.map((item) => maskValue(item, mask, depth - 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (value instanceof Error) maskError(value, mask, depth)
  if (!isPlain(value)) return value
  let isChanged = false
  const members = Object.entries(value).map(([key, member]: readonly [string, unknown]) => {
    const masked = [mask(key), maskValue(member, mask, depth - 1)] as const
    isChanged ||= masked[0] !== key || masked[1] !== member
    return masked
  })
  return isChanged ? Object.fromEntries(members) : value
}
