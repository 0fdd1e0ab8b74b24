import { currentFields } from '../../src/game/current-fields.ts'
import { isAsleep, type KnownField } from '../../src/game/snapshot.ts'
import type { ServerFamily } from './family.ts'

export const state: readonly ServerFamily[] = [
  {
    name: 'minecraft_up',
    type: 'gauge',
    help: '1 if the last poll reached the server, 0 if not.',
    labels: [],
    perPoll: true,
    read: ({ up }, add) => add(up),
  },
  {
    name: 'minecraft_asleep',
    type: 'gauge',
    help: '1 while a proxy answers for the stopped server (minecraft_up is 0 then), 0 while the server itself answers; absent without MC_ASLEEP_MOTD.',
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(isAsleep(snapshot)),
  },
  {
    name: 'minecraft_main_thread_responsive',
    type: 'gauge',
    help: '1 if the main thread of the server answers, 0 if the server accepts connections but its main thread does not answer; absent if no source can check it.',
    labels: [],
    perPoll: true,
    read: ({ mainThread }, add) => add(mainThread?.responsive),
  },
  {
    name: 'minecraft_main_thread_delay_seconds',
    type: 'gauge',
    help: 'Response time of the main thread to the last request that runs on it, in seconds; the time so far while there is no response.',
    labels: [],
    perPoll: true,
    read: ({ mainThread }, add) => add(mainThread?.delay),
  },
  {
    name: 'minecraft_world_upgrade_ratio',
    type: 'gauge',
    help: 'Progress of the world upgrade, 0 to 1; only while the server upgrades its world.',
    labels: [],
    perPoll: true,
    read: ({ fields }, add) =>
      add(fields.worldUpgrade?.value.state === 'running' ? fields.worldUpgrade.value.progress : undefined),
  },
  {
    name: 'minecraft_maintenance',
    type: 'gauge',
    help: '1 while a maintenance window of the server is open, 0 otherwise; alerts and notifications of the server are muted then.',
    labels: [],
    perPoll: false,
    read: ({ lastPollAt }, add, _group, isMaintained = false) =>
      add(lastPollAt === undefined && !isMaintained ? undefined : isMaintained),
  },
  {
    name: 'minecraft_demo',
    type: 'gauge',
    help: 'Always 1, present only for the built-in demo server, whose values are all simulated.',
    labels: [],
    perPoll: true,
    read: ({ demo }, add) => add(demo),
  },
  {
    name: 'minecraft_server_info',
    type: 'gauge',
    help: 'Configured group of the server as a label, empty if it has none; always 1, from the first poll on.',
    labels: ['group'],
    perPoll: false,
    read: ({ lastPollAt }, add, group = '') => add(lastPollAt === undefined ? undefined : 1, group),
  },
  {
    name: 'minecraft_version_info',
    type: 'gauge',
    help: 'Version and software of the server as labels; always 1, present only while the server is up.',
    labels: ['version', 'protocol', 'software', 'loader', 'edition', 'transport'],
    perPoll: true,
    read(snapshot, add) {
      const { version, protocol, software, loader, edition, transport } = currentFields(snapshot)
      if ((version ?? protocol ?? software ?? loader ?? edition) === undefined) return
      const text = (field?: KnownField<unknown>) => String(field?.value ?? '')
      add(1, text(version), text(protocol), text(software), text(loader), text(edition), text(transport))
    },
  },
]
