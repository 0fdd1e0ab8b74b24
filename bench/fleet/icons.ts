/** Bytes of an icon before base64. */
const iconBytes = 8_192
/** Icons that the other servers share. */
const sharedIcons = 50

const icons = new Map<number, Buffer>()

/**
 * The icon of a simulated server: incompressible bytes with the header of a PNG.
 * @param distinctIcons servers from this number on share 50 icons
 */
export function iconOf(server: number, distinctIcons: number): Buffer {
  const kind = server < distinctIcons ? server : -1 - (server % sharedIcons)
  const before = icons.get(kind)
  if (before !== undefined) return before
  const noise = new Uint32Array(iconBytes / 4)
  let state = 2 * (kind + sharedIcons) + 1
  for (let index = 0; index < noise.length; index++) {
    // Xorshift.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    noise[index] = state
  }
  const icon = Buffer.from(noise.buffer)
  icon.write('89504e470d0a1a0a', 'hex')
  icons.set(kind, icon)
  return icon
}
