import { createHash } from 'node:crypto'
import { pictureType } from '../util/picture-type.ts'
import { loadSharp } from '../util/sharp.ts'

export const iconSide = 64
/** Far larger than any icon; a small file may claim to be a gigantic picture. */
const maxPixels = 4_000_000
/** A 64x64 PNG has at most 32 KiB of pixels; the rest would be other data. */
const maxBytes = 48 * 1024
const maxSeconds = 5

/** The icon of a server, ready to be sent. */
export interface Icon {
  /** 64x64 PNG. */
  readonly png: Buffer
  readonly isDefault: boolean
}

const read = async (bytes: Buffer) =>
  (await loadSharp())(bytes, { limitInputPixels: maxPixels, failOn: 'error' }).timeout({ seconds: maxSeconds })

async function normalise(bytes: Buffer): Promise<Buffer> {
  if (pictureType(bytes) === undefined) throw new Error('not a PNG, JPEG, GIF or WebP picture')
  const picture = await read(bytes)
  const { format, width, height } = await picture.metadata()
  if (format === 'png' && width === iconSide && height === iconSide && bytes.length <= maxBytes) {
    // Decoded once, so that a truncated picture is never sent.
    await picture.raw().toBuffer()
    return bytes
  }
  return picture
    .resize(iconSide, iconSide, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .png()
    .toBuffer()
}

/** The icon of a server without its own: a watchtower of 16x16 pixels, enlarged without smoothing. */
const defaultIcon: Icon = {
  png: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAAD1BMVEVMaXGUo7hKVWhNfA/6zBWU67anAAAAAXRSTlMAQObYZgAAAAlwSFlzAAAD6AAAA' +
      '+gBtXtSawAAAHZJREFUWIXt1LsKACEMRNFx9P+/eRF0CRLw0TnxNqbYnMIFgdcfSY5zPe3sfasG7KQKpMVUAQ8praVlQaCYlpYFAYHfeAzU7MK4rA7UZgBm' +
      'UQcAgL7Y52iA1wNSyDtAKxLA4VH1gK1XGXcBNM0AF+HdQD5MBPgApJQOwZZqO78AAAAASUVORK5CYII=',
    'base64',
  ),
  isDefault: true,
}

/** The decoder timed out, as on a busy machine: the picture may be valid. */
const isTimeout = (error: unknown): boolean => error instanceof Error && /\btimeout: \d+% complete/.test(error.message)

/** Decodes the icons that servers send and caches the newest one of each server: snapshots are frequent, new icons rare. */
export function createIcons() {
  const newest = new Map<string, { readonly digest: string; readonly icon: Promise<Icon> }>()
  return {
    /**
     * The icon of `server` for these bytes; the default icon if there are none or they are not a picture. If decoding timed out,
     * the default icon is returned until the next call.
     */
    get(server: string, bytes: Buffer | undefined): Promise<Icon> {
      if (bytes === undefined) return Promise.resolve(defaultIcon)
      const digest = createHash('sha1').update(bytes).digest('base64')
      const before = newest.get(server)
      if (before?.digest === digest) return before.icon
      const icon = normalise(bytes).then(
        (png) => ({ png, isDefault: false }),
        (error: unknown) => {
          if (isTimeout(error) && newest.get(server) === made) newest.delete(server)
          return defaultIcon
        },
      )
      const made = { digest, icon }
      newest.set(server, made)
      return icon
    },
    /** Removes the icon of a server that is no longer watched. */
    delete(server: string): void {
      newest.delete(server)
    },
  }
}

export type Icons = ReturnType<typeof createIcons>

/** @param size width and height in pixels */
export async function scale({ png }: Icon, size: number): Promise<Buffer> {
  return size === iconSide ? png : (await read(png)).resize(size, size, { kernel: 'nearest' }).png().toBuffer()
}
