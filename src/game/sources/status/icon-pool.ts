import { createHash } from 'node:crypto'

/** Icons of all servers, each once, however many servers show it. */
export interface IconPool {
  /**
   * The same bytes as an icon of the pool, which has it from then on for as long as something else holds it.
   * @param likely the icon that these bytes probably are, for a quick answer
   */
  share(bytes: Buffer, likely?: Buffer): Buffer
  readonly size: number
}

export function createIconPool(): IconPool {
  const icons = new Map<string, WeakRef<Buffer>>()
  const collected = new FinalizationRegistry<string>((digest) => {
    // Meanwhile another Buffer may have come with the same bytes.
    if (icons.get(digest)?.deref() === undefined) icons.delete(digest)
  })
  return {
    share(bytes, likely) {
      if (likely?.equals(bytes)) return likely
      const digest = createHash('sha1').update(bytes).digest('base64')
      const known = icons.get(digest)?.deref()
      if (known?.equals(bytes)) return known
      // A copy of its own: a small Buffer may be a view of a block that others share.
      const icon = Buffer.from(new Uint8Array(bytes).buffer)
      icons.set(digest, new WeakRef(icon))
      collected.register(icon, digest)
      return icon
    },
    get size() {
      return icons.size
    },
  }
}
