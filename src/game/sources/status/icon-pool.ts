import { createHash } from 'node:crypto'

/** Shares identical icons of different servers. */
export interface IconPool {
  /**
   * Returns the shared icon with the same bytes. The pool references it weakly.
   * @param likely the icon that probably has the same bytes, compared first
   */
  share(bytes: Buffer, likely?: Buffer): Buffer
  readonly size: number
}

export function createIconPool(): IconPool {
  const icons = new Map<string, WeakRef<Buffer>>()
  const collected = new FinalizationRegistry<string>((digest) => {
    // A new Buffer with the same bytes may have been added in the meantime.
    if (icons.get(digest)?.deref() === undefined) icons.delete(digest)
  })
  return {
    share(bytes, likely) {
      if (likely?.equals(bytes)) return likely
      const digest = createHash('sha1').update(bytes).digest('base64')
      const known = icons.get(digest)?.deref()
      if (known?.equals(bytes)) return known
      // Copied, because a small Buffer may be a view of a larger shared block.
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
