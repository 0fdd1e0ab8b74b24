import { describe, expect, it } from 'vitest'
import { exampleServer, silentServer } from '../helpers/example-server.ts'
import { buildTestApp } from '../helpers/test-app.ts'

const players =
  '[{"ID":"00000000-0000-4000-8000-00000000000a","NAME":"Alice"},{"ID":"","NAME":"Zoë"},{"ID":"00000000-0000-4000-8000-00000000000b","NAME":"bob"}]'
const metadata = (favicon: string) =>
  `{"DESCRIPTION":"Two \\"lines\\"\\nof \\\\ text","PLAYERS":{"MAX":20,"ONLINE":3,"PLAYERS":${players}},"VERSION":{"version":"1.21.11","protocol":774},"FAVICON":"${favicon}","SECURE_CHAT_ENFORCED":true}`
const everything = (name: string, favicon: string) =>
  `{"SERVER_IP":"192.0.2.7","SERVER_PORT":25570,"SERVER_NAME":"${name}","DEFAULT_GAME_MODE":"ADVENTURE","LOADER_VERSION":"0.18.4","METADATA":${metadata(favicon)},"TICKS":123456,"TICK_TIME":12.34568,"TIME_REFERENCE":1000}`

/** Path, exact text, sources of the values. */
const known = [
  ['playernames', players, 'rcon'],
  ['defaultgamemode', '["ADVENTURE"]', 'directory'],
  ['serverport', '["25570"]', 'status'],
  ['loaderversion', '["0.18.4"]', 'directory'],
  ['minecraftversion', '["1.21.11"]', 'status'],
  ['motd', '["Two \\"lines\\"\\nof \\\\ text"]', 'status'],
  ['maxplayercount', '["20"]', 'status'],
  ['servermetadata', metadata('/api/v1/favicon'), 'status, rcon'],
  ['servername', '["my server"]', 'none'],
  ['currentplayercount', '["3"]', 'status'],
  ['serverip', '["192.0.2.7"]', 'status'],
  ['ticks', '["123456"]', 'rcon'],
  ['ticktime', '["12.34568"]', 'rcon'],
  ['timereference', '["1000"]', 'rcon'],
  ['getall', everything('my server', '/api/v1/favicon'), 'status, rcon, directory'],
] as const

const unknownMetadata =
  '{"DESCRIPTION":"","PLAYERS":{"MAX":null,"ONLINE":null,"PLAYERS":[]},"VERSION":{"version":"","protocol":null},"FAVICON":"/api/v1/favicon","SECURE_CHAT_ENFORCED":null}'
const singles =
  'defaultgamemode serverport loaderversion minecraftversion motd maxplayercount currentplayercount serverip ticks ticktime'
const unknown: readonly (readonly [string, string])[] = [
  ...singles.split(' ').map((path) => [path, '[""]'] as const),
  ['playernames', '[]'],
  ['servername', '["Server"]'],
  ['timereference', '["1000"]'],
  ['servermetadata', unknownMetadata],
  [
    'getall',
    `{"SERVER_IP":"","SERVER_PORT":null,"SERVER_NAME":"Server","DEFAULT_GAME_MODE":"","LOADER_VERSION":"","METADATA":${unknownMetadata},"TICKS":null,"TICK_TIME":null,"TIME_REFERENCE":1000}`,
  ],
]

describe('the JSON routes of the primary server', () => {
  it.each(known)('%s', async (path, text, sources) => {
    const { get } = await buildTestApp({ scripts: { 'my server': exampleServer, other: silentServer } })
    const reply = await get(`/api/v1/${path}`)
    expect(reply.status).toBe(200)
    expect(await reply.text()).toBe(text)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
      'content-length': String(Buffer.byteLength(text)),
      'access-control-allow-origin': '*',
      'x-snapshot-age': '0.000',
      'x-snapshot-source': sources,
      etag: expect.stringMatching(/^".+"$/),
    })
    expect(await (await get(`/api/v1/${path}/`)).text()).toBe(text)
  })

  it.each(unknown)('%s of a server without values', async (path, text) => {
    const { get } = await buildTestApp({ scripts: { Server: silentServer } })
    const reply = await get(`/api/v1/${path}`)
    expect(await reply.text()).toBe(text)
    expect(reply.headers.get('x-snapshot-source')).toBe('none')
  })

  it('has no loader version for a vanilla server', async () => {
    const script = { status: {}, directory: { loader: 'vanilla', loaderVersion: '1.21' } }
    const { get } = await buildTestApp({ scripts: { Server: script } })
    expect(await (await get('/api/v1/loaderversion')).text()).toBe('[""]')
  })

  it('lists hundreds of players', async () => {
    const players = Array.from({ length: 900 }, (_, n) => ({ name: `Player${n}` }))
    const { get } = await buildTestApp({ scripts: { Server: { status: { players: { complete: true, players } } } } })
    const listed = (await (await get('/api/v1/playernames')).json()) as { NAME: string }[]
    expect(listed.map(({ NAME }) => NAME)).toEqual(players.map(({ name }) => name).sort())
  })
})

describe('the routes of a server by name', () => {
  it('lists the names, the primary one first', async () => {
    const { get } = await buildTestApp({ scripts: { 'my server': exampleServer, other: silentServer } })
    expect(await (await get('/api/v1/servers')).text()).toBe('["my server","other"]')
  })

  it.each(known)('%s', async (path, text) => {
    const { get } = await buildTestApp({ scripts: { other: silentServer, 'my server': exampleServer } })
    const own = text.replace('"/api/v1/favicon"', '"/api/v1/servers/my%20server/favicon"')
    expect(await (await get(`/api/v1/servers/my%20server/${path}`)).text()).toBe(own)
  })

  it('answers 404 for a name that is not configured', async () => {
    const { get } = await buildTestApp({ scripts: { Server: exampleServer } })
    for (const path of ['getall', 'favicon', 'sources']) {
      const reply = await get(`/api/v1/servers/server/${path}`)
      expect(reply.status).toBe(404)
      expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
      expect(await reply.json()).toMatchObject({ code: 'NOT_FOUND', detail: expect.stringContaining('"server"') })
    }
  })
})
