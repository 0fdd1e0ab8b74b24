/** Converts a UUID with or without dashes to lower case with dashes; undefined for anything else. */
export function normaliseUuid(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const digits = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i.exec(value)
  return digits?.slice(1).join('-').toLowerCase()
}
