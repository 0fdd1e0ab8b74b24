import { isAsleep } from '../../src/game/snapshot.ts'
import { flag, type ServerFamily, single } from './family.ts'

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
    name: 'minecraft_main_thread_responsive',
    type: 'gauge',
    help: '1 if the main thread of the server answers, 0 if the server accepts connections but its main thread does not answer; absent where no source knows.',
    labels: [],
    perPoll: true,
    read: ({ mainThread }) => flag(mainThread?.responsive),
  },
  {
    name: 'minecraft_main_thread_delay_seconds',
    type: 'gauge',
    help: 'Time from the last request that runs on the main thread to its answer, seconds; while it is not answered, the time so far.',
    labels: [],
    perPoll: true,
    read: ({ mainThread }) => single(mainThread?.delay),
  },
  {
    name: 'minecraft_world_upgrade_progress',
    type: 'gauge',
    help: 'Part of the world that the server has upgraded, 0 to 1; only while it upgrades the world.',
    labels: [],
    perPoll: true,
    read: ({ fields }) => single(fields.worldUpgrade?.value.state === 'running' ? fields.worldUpgrade.value.progress : undefined),
  },
  {
    name: 'minecraft_demo',
    type: 'gauge',
    help: 'Always 1, only of the built-in demo server: all values of the server are simulated.',
    labels: [],
    perPoll: true,
    read: ({ demo }) => flag(demo),
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
