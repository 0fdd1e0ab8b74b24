/** Spreads every bit of a 32-bit integer over all of its bits (the finalizer of MurmurHash3). */
export function mixBits(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/**
 * FNV-1a of the UTF-16 code units, a 32-bit integer, the same on every machine. Its bits are mixed, because names that differ only in the last
 * digit differ only in the low bits of FNV-1a.
 */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mixBits(hash)
}

/** Maps a name to a fixed position from 0 to 1 (exclusive). Many names are spread evenly. */
export const placeOf = (name: string): number => hashText(name) / 2 ** 32
