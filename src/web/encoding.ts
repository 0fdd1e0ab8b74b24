import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Coding = 'br' | 'gzip' | 'identity'

/** The smallest form that the client accepts (RFC 9110, 12.5.3). */
export function acceptsEncoding(accept: string | undefined): Coding {
  const accepted = (accept ?? '')
    .toLowerCase()
    .split(',')
    .flatMap((part) => {
      const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
      return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [coding]
    })
  return (['br', 'gzip'] as const).find((coding) => accepted.includes(coding)) ?? 'identity'
}

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Compressed in a thread pool, at a level for pages that are rendered for each request. */
export async function compress(text: string, coding: Coding): Promise<Buffer> {
  const bytes = Buffer.from(text)
  if (coding === 'br') return brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  return coding === 'gzip' ? zip(bytes, { level: 6 }) : bytes
}
