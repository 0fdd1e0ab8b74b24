/**
 * Maps a name to a fixed position from 0 to 1 (exclusive). Many names are spread evenly. It is the FNV-1a hash with the finalizer
 * of MurmurHash3, because names that differ only in the last digit differ only in the low bits of FNV-1a.
 */
export function placeOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
