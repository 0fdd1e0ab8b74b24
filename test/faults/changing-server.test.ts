import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { hostile, hostileServer } from '../helpers/hostile-servers.ts'
import { encodeStatus } from '../helpers/status-packets.ts'

const status = (version: string, protocol: number, more: object = {}) =>
  encodeStatus(
    JSON.stringify({ version: { name: version, protocol }, players: { max: 20, online: 1 }, description: 'Hi', ...more }),
  )

/** As servers before 1.7: they answer the old request, and end the connection of any other. */
function answerLegacy(socket: Socket): void {
  const text = Buffer.from('§1\u000078\u00001.6.4\u0000Hi\u00003\u000020', 'utf16le').swap16()
  const length = Buffer.from([0xff, 0, text.length / 2])
  socket.once('data', ([first]: Buffer) => (first === 0xfe ? socket.end(Buffer.concat([length, text])) : socket.destroy()))
}

const answerModern = (reply: Buffer) => (socket: Socket) =>
  void socket.once('data', () => {
    socket.write(reply)
    socket.on('data', (ping: Buffer) => void socket.write(ping))
  })

// An update, a rollback, a proxy that sends players to another server or speaks the protocol of each client, another program on the port.
it('a server that changes its version or protocol between polls shows that of its last answer, and nothing of those before', async () => {
  const answers: readonly (readonly [(socket: Socket) => void, string | undefined, boolean?])[] = [
    [answerModern(status('1.21.11', 774, { enforcesSecureChat: true })), '1.21.11', true],
    [answerModern(status('1.8.9', 47)), '1.8.9'],
    [answerLegacy, '1.6.4'],
    [answerModern(status('Paper 26.1', 775)), '26.1', false],
    [hostile['speaks HTTP']!.behave, undefined],
    [answerLegacy, '1.6.4'],
    [hostile['resets the connection']!.behave, undefined],
    [answerModern(status('26.1', 775)), '26.1', false],
  ]
  let behave = answers[0]![0]
  await using server = await hostileServer((socket) => behave(socket))
  const address = { host: '127.0.0.1', port: server.port, edition: 'java' as const }
  const fleet = createFleet({
    servers: [{ name: 'Server', sources: { status: { address } } }],
    poll: { interval: 60_000, timeout: 30_000, staleAfter: 180_000 },
    ...{ clock: systemClock, log: silentLog, random: () => 0, createSources },
  })
  onTestFinished(() => fleet.close())
  for (const [answer, version, secureChat] of answers) {
    behave = answer
    const { up, fields } = await fleet.watchers[0]!.poll()
    expect([up, up === true ? fields.version?.value : undefined]).toEqual([version !== undefined, version])
    if (up === true) expect(fields.secureChatEnforced?.value).toBe(secureChat)
  }
})
