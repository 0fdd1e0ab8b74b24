import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { IconStore } from '../../src/cluster/icon-store.ts'
import { SharedWatcher } from '../../src/cluster/shared-watcher.ts'
import { memberChecks } from '../../src/cluster/snapshot-checks.ts'
import { createSnapshotCodec } from '../../src/cluster/snapshot-codec.ts'
import { loadConfig } from '../../src/config/config.ts'
import { fieldNames } from '../../src/game/fields.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { silentLog } from '../../src/util/log.ts'
import { testPoll } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

/** JSON texts that are a wrong value of some field, or of all. */
const wrongValues = [
  'null',
  'true',
  '-1',
  '1e308',
  '1e999',
  '1.5',
  '""',
  '"NaN"',
  '"javascript:alert(1)"',
  `"${'x'.repeat(300_000)}"`,
  '[]',
  '[null]',
  '[[null]]',
  '[[[]]]',
  '[{}]',
  '[{"name":null}]',
  '[{"name":{"toString":1}}]',
  '{}',
  '{"__proto__":{"players":[]}}',
  '{"constructor":1,"toString":null}',
  '{"players":[null],"complete":true}',
  '{"players":[{"name":1,"id":2}],"complete":"yes"}',
  '{"players":{"length":3},"complete":true}',
  '{"ticks":"1","age":null}',
  '{"version":["x"]}',
  '{"1m":"20","5m":null,"15m":{}}',
  '{"state":"running","progress":"1"}',
  '{"state":{}}',
]

/** A replica that received a snapshot of a server that another one polls. */
async function replicaWith(text: string) {
  const clock = manualClock(1_000)
  const watchers = new Map<string, SharedWatcher>()
  const options = { settings: testPoll, clock, log: silentLog, onPolled() {}, onPublish() {}, onClose() {} }
  const server = { name: 'survival', sources: {} }
  const fleet = createFleet({
    servers: [server],
    poll: testPoll,
    clock,
    log: silentLog,
    createSources,
    share(server, createWatcher) {
      const watcher = new SharedWatcher(server, createWatcher, options)
      watchers.set(server.name, watcher)
      return watcher
    },
  })
  const app = await buildApp({ config: loadConfig({ env: {} }), fleet, clock, logger: pino({ level: 'silent' }) })
  onTestFinished(async () => {
    fleet.close()
    await app.close()
  })
  const dropped: string[] = []
  const codec = createSnapshotCodec(new IconStore(), (_, part) => dropped.push(part))
  let numbers = 0
  const receive = (json: string, member = 'a') => {
    dropped.length = 0
    const snapshot = codec.decode(json, clock.now(), 'survival')
    watchers.get('survival')?.apply(snapshot, { from: 'stream', member, epoch: 1, number: ++numbers })
    return snapshot
  }
  receive(text)
  return { app, clock, receive, dropped }
}

const contact = '"up":true,"lastContact":[0,1700000000000],"lastPollAt":1700000000000'
const snapshotText = (fields: string, others = contact) =>
  `{"version":3,"server":"survival","age":0,"polls":{"ok":1},"sources":[{"source":"status","target":"a","state":"ok"}],"fields":{${fields}},${others}}`

const paths = [
  ...['/', '/page/cards', '/servers/survival', '/page/servers/survival', '/metrics', '/openapi.json', '/healthz'],
  ...['/api/v1/sources', '/api/v1/getall', '/api/v1/getmetadata', '/api/v1/servers', '/api/v1/getfavicon'],
]

it('answers every request, whatever another replica sends as a field', async () => {
  const { app, receive } = await replicaWith(snapshotText(''))
  for (const value of wrongValues) {
    // The wrong value in all fields at once.
    const fields = fieldNames.map((name) => `"${name}":[${value},"status"]`).join()
    receive(snapshotText(fields))
    for (const path of paths) {
      const { statusCode } = await app.inject(path)
      expect(`${value.slice(0, 60)} ${path} ${statusCode}`).toMatch(/ (200|404)$/)
    }
  }
})

it.each(fieldNames)('drops and counts wrong values of %s', async (name) => {
  const { receive, dropped } = await replicaWith(snapshotText(''))
  const accepted = wrongValues.filter((value) => {
    const { fields } = receive(snapshotText(`"${name}":[${value},"status"]`))
    expect(dropped).toEqual(fields[name] === undefined ? [`fields.${name}`] : [])
    return fields[name] !== undefined
  })
  // Some of them are values of some fields: a text, a number, a boolean or an empty list.
  for (const value of accepted) expect(value).toMatch(/^(true|-1|1e308|1\.5|""|"NaN"|"javascript:alert\(1\)"|\[\])$/)
  receive(snapshotText(`"${name}":5,"__proto__":[1,"status"],"toString":[1,"status"]`))
  expect(dropped).toEqual([`fields.${name}`])
})

it('drops wrong values of everything else in a snapshot', async () => {
  const { app, receive, dropped } = await replicaWith(snapshotText(''))
  const states = [
    'null',
    '{}',
    '{"source":"status","target":1,"state":"ok"}',
    '{"source":"status","target":"a","state":"ok","error":{"code":"x"}}',
  ]
  for (const value of wrongValues) {
    const members = [...Object.keys(memberChecks), 'lastContact', 'knownForMs'].map((name) => `"${name}":${value}`).join()
    const polls = `"polls":{"ok":${value},"__proto__":1,"x":1}`
    const sources = `"sources":[${[...states, `{"source":"status","target":"a","state":"ok","lastSuccess":${value},"lastError":${value}}`].join()}]`
    const snapshot = receive(`{"version":3,"server":"survival","age":0,"fields":{},${polls},${sources},${members}}`)
    expect(dropped).toEqual(expect.arrayContaining(['polls', 'sources', 'lastContact', 'mainThread']))
    expect(Object.keys(snapshot.polls).every((outcome) => outcome === 'ok')).toBe(true)
    for (const path of paths) {
      const { statusCode } = await app.inject(path)
      expect(`${value.slice(0, 60)} ${path} ${statusCode}`).toMatch(/ (200|404|503)$/)
    }
  }
})

it('takes no value for one of the future, which none of a poll could replace', async () => {
  const { app, clock, receive } = await replicaWith(snapshotText('"playersOnline":[1,"status"]'))
  await clock.advance(1_000)
  const future = snapshotText('"playersOnline":[2,"status"]', contact.replace('[0,', '[-1e15,')).replace('"age":0', '"age":-1e15')
  receive(future, 'foreign')
  const online = async () => (await app.inject('/api/v1/currentplayercount')).body
  expect(await online()).toBe('["2"]')
  await clock.advance(1_000)
  receive(snapshotText('"playersOnline":[3,"status"]'), 'b')
  expect(await online()).toBe('["3"]')
  receive(future, 'foreign')
  await clock.advance(testPoll.staleAfter)
  expect((await app.inject('/api/v1/getall')).statusCode).toBe(503)
})
