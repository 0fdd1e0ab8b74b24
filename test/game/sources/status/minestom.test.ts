import { status as readByLibrary } from 'minecraft-server-util'
import { expect, it } from 'vitest'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { canRunMinestom, startMinestom } from '../../../helpers/minestom.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'

it.skipIf(!canRunMinestom())('Minestom is read, and as minecraft-server-util reads it', async () => {
  await using server = await startMinestom()
  const { port } = server
  const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
  const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context)
  const { fields } = await source.poll(never())
  const { latency, ...rest } = fields
  expect(rest).toEqual({
    edition: 'java',
    version: '26.2',
    protocol: 776,
    motd: 'Minestom Server',
    playersOnline: 0,
    playersMax: 1,
    players: { players: [], complete: true },
    secureChatEnforced: false,
    rawStatus: { version: '26.2', playersOnline: 0, playersMax: 1 },
    ip: '127.0.0.1',
    port,
  })
  expect(latency).toBeGreaterThan(0)
  expect(await readByLibrary('127.0.0.1', port, { enableSRV: false, timeout: 20_000 })).toMatchObject({
    version: { name: rest.version, protocol: rest.protocol },
    players: { online: rest.playersOnline, max: rest.playersMax },
    motd: { clean: rest.motd },
  })
})
