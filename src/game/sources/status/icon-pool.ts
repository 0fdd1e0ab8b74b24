import { hash } from 'node:crypto'

/** The icons of all servers by digest, referenced weakly. */
const icons = new Map<string, WeakRef<Buffer>>()
const collected = new FinalizationRegistry<string>((digest) => {
  // A new Buffer with the same bytes may have been added in the meantime.
  if (icons.get(digest)?.deref() === undefined) icons.delete(digest)
})

/**
 * Returns the Buffer with the same bytes that all servers with this icon share.
 * @param likely the icon that probably has the same bytes, compared first
 */
export function shareIcon(bytes: Buffer, likely?: Buffer): Buffer {
  if (likely?.equals(bytes)) return likely
  const digest = hash('sha1', bytes, 'base64')
  const known = icons.get(digest)?.deref()
  if (known?.equals(bytes)) return known
  // Copied, because a small Buffer may be a view of a larger shared block.
  const icon = Buffer.from(new Uint8Array(bytes).buffer)
  icons.set(digest, new WeakRef(icon))
  collected.register(icon, digest)
  return icon
}
