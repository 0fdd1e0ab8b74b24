import { LRUCache } from 'lru-cache'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { integerParameter, withDefault } from '../http/parameters.ts'
import { negotiate, prefersImages } from '../http/replies/accept.ts'
import { type PreparedReply, prepare, prepareJson, textType } from '../http/replies/reply.ts'
import { cachedPerObject } from '../util/cached.ts'
import { sourcesOf } from './current.ts'
import { type Icon, type Icons, iconSide, scale } from './icon.ts'

export const faviconParameters = {
  size: withDefault(
    integerParameter({
      minimum: 16,
      maximum: 512,
      description: 'Width and height in pixels of the picture (`image/png` only), scaled without smoothing',
      example: 128,
    }),
    iconSide,
  ),
}

/** Maximum number of scaled pictures in the cache, for all servers: some 20 KB each. */
const maxScaled = 128

const constant = ({ isDefault }: Icon) => ({ vary: 'Accept', ...(isDefault && { 'x-favicon': 'default' }) })

const textForms = cachedPerObject((icon: Icon) => {
  const base64 = icon.png.toString('base64')
  return { text: prepare(base64, textType, constant(icon)), json: prepareJson(base64, constant(icon)) }
})

/** Scales icons; the pictures that were requested last are cached. */
function createScaler() {
  const scaled = new LRUCache<string, Promise<PreparedReply>>({ max: maxScaled })
  return (icon: Icon, size: number, count: () => void): Promise<PreparedReply> => {
    const key = `${size} ${textForms(icon).text.headers.etag}`
    const before = scaled.get(key)
    if (before !== undefined) return before
    if (size !== iconSide) count()
    const reply = scale(icon, size).then(
      (png) => prepare(png, 'image/png', constant(icon)),
      (error: unknown) => {
        scaled.delete(key)
        throw error
      },
    )
    scaled.set(key, reply)
    return reply
  }
}

const textFirst = ['text/plain', 'application/json', 'image/png'] as const
const imageFirst = ['image/png', 'text/plain', 'application/json'] as const

/** Sends the icon of a server in the requested form. */
export function createFavicon(icons: Icons) {
  const picture = createScaler()
  const iconOf = cachedPerObject(({ server, fields }: ServerSnapshot) => icons.get(server, fields.favicon?.value))
  /**
   * @param size width and height in pixels of the picture
   * @param count called before a picture is scaled; may throw
   */
  return async (accept: string | undefined, size: number, snapshot: ServerSnapshot, count: () => void) => {
    const type = negotiate(accept, prefersImages(accept) ? imageFirst : textFirst)
    const icon = await iconOf(snapshot)
    const source = icon.isDefault ? 'none' : sourcesOf(snapshot, ['favicon'])
    if (type === 'image/png') return { reply: await picture(icon, size, count), source }
    const { text, json } = textForms(icon)
    return { reply: type === 'application/json' ? json : text, source }
  }
}
