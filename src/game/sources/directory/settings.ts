import { decodeProperties, type Properties, parseProperties } from '../../protocol/server-properties.ts'
import { readInside } from './folder.ts'

const maxBytes = 1024 * 1024

/** `server.properties`; undefined where there is none, or where it is empty: the server may be writing it. */
export async function readProperties(folder: string): Promise<Properties | undefined> {
  const bytes = await readInside(folder, 'server.properties', maxBytes)
  const properties = bytes && parseProperties(decodeProperties(bytes))
  return properties?.size ? properties : undefined
}
