/** An input as one line of JSON: bytes become base64, as JSON has none. */
export const toText = (input: unknown): string =>
  JSON.stringify(input, function (this: Record<string, unknown>, key, value) {
    return Buffer.isBuffer(this[key]) ? { base64: this[key].toString('base64') } : value
  })

export const fromText = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value?.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value))
