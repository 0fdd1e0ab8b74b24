import { isAsleep } from '../../src/game/snapshot.ts'
import { flag, type ServerFamily } from './family.ts'

export const state: readonly ServerFamily[] = [
  {
    name: 'minecraft_up',
    type: 'gauge',
    help: '1 if the last poll reached the server, 0 if not.',
    labels: [],
    perPoll: true,
    read: ({ up }) => flag(up),
  },
  {
    name: 'minecraft_asleep',
    type: 'gauge',
    help: '1 while a proxy answers for the server, which is stopped (then minecraft_up is 0), 0 while the server itself answers; absent without MC_ASLEEP_MOTD.',
    labels: [],
    perPoll: true,
    read: (snapshot) => flag(isAsleep(snapshot)),
  },
  {
    name: 'minecraft_version_info',
    type: 'gauge',
    help: 'What the server runs, as labels; always 1, only while the server is up.',
    labels: ['version', 'protocol', 'software', 'loader', 'edition', 'transport'],
    perPoll: true,
    read({ up, fields }) {
      const { version, protocol, software, loader, edition, transport } = fields
      if (up !== true || (version ?? protocol ?? software ?? loader ?? edition) === undefined) return []
      const labels = [version, protocol, software, loader, edition, transport].map((field) => String(field?.value ?? ''))
      return [{ labels, value: 1 }]
    },
  },
]
