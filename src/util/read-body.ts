/**
 * Reads a body up to a limit. Beyond it, returning from the loop destroys the stream and its connection.
 * @returns undefined if the body is longer than `maxBytes`
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const received: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxBytes) return undefined
    received.push(chunk)
  }
  return Buffer.concat(received)
}
