import { expect, it } from 'vitest'
import { createTargetFinder, targetsOf } from '../../../exporter/probe/target.ts'
import type { ServerSettings } from '../../../src/game/server-settings.ts'

const server = (name: string, host: string, port: number, edition: 'java' | 'bedrock' = 'java'): ServerSettings => ({
  name,
  sources: { status: { address: { edition, host, port } } },
})

const lobby = server('lobby', 'MC.example.org', 25565)
const second = server('second', 'mc.example.org', 25565)
const survival = server('survival', 'mc.example.org', 25566)
const phones = server('phones', 'mc.example.org', 19132, 'bedrock')
const local: ServerSettings = { name: 'local', sources: { directory: { path: '/srv/mc' } } }
const servers = [lobby, second, survival, phones, local]

it.each([
  ['the name', 'survival', survival],
  ['the name of a server without an address', 'local', local],
  ['the first of several servers with the address, in any letter case', 'mc.EXAMPLE.org:25565', lobby],
  ['the default port', 'mc.example.org', lobby],
  ['another port', 'mc.example.org:25566', survival],
  ['the edition', 'bedrock://mc.example.org', phones],
])('finds a watched server by %s', (_, text, settings) => {
  expect(createTargetFinder({ servers })(text)).toEqual({ settings, configured: true })
})

it('finds a watched server on another port by its host alone', () => {
  expect(createTargetFinder({ servers: [survival] })('mc.example.org')).toEqual({ settings: survival, configured: true })
})

it('finds none by a host that several watched servers have, if none of them has the default port', () => {
  const target = createTargetFinder({ servers: [survival, phones] })('mc.example.org')
  expect(target).toMatchObject({
    ...{ configured: false, settings: { sources: { status: { address: { port: 25565 } } } } },
    onHost: [survival, phones],
  })
})

it('makes the settings of any other address, and none of a text that is not one', () => {
  const find = createTargetFinder({ servers })
  const address = { edition: 'java', host: 'other.example.org', port: 25565 }
  expect(find('other.example.org')).toEqual({
    settings: { name: 'other.example.org', sources: { status: { address } } },
    configured: false,
    onHost: [],
  })
  expect(find('not an address')).toBeUndefined()
})

it('finds every server by its target in /sd, and follows changes of the list', () => {
  const fleet = { servers: servers as readonly ServerSettings[] }
  const find = createTargetFinder(fleet)
  for (const [index, target] of targetsOf(servers).entries()) expect(find(target)?.settings).toBe(servers[index])
  fleet.servers = [survival]
  expect(find('lobby')?.configured).toBe(false)
  expect(find('local')?.configured).toBe(false)
  expect(find('survival')?.settings).toBe(survival)
})
