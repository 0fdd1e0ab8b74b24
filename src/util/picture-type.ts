const startsWith = (bytes: Buffer, magic: string): boolean => bytes.subarray(0, magic.length).equals(Buffer.from(magic, 'latin1'))

export type PictureType = 'png' | 'jpeg' | 'gif' | 'webp'

/** The type of a raster image by its first bytes; undefined for anything else, such as an SVG, which may refer to other files. */
export function pictureType(bytes: Buffer): PictureType | undefined {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n')) return 'png'
  if (startsWith(bytes, '\xff\xd8\xff')) return 'jpeg'
  if (startsWith(bytes, 'GIF8')) return 'gif'
  return startsWith(bytes, 'RIFF') && startsWith(bytes.subarray(8), 'WEBP') ? 'webp' : undefined
}
