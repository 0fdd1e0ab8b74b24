import { currentFields, isAsleep, type KnownField } from '../../src/game/snapshot.ts'
import { gauge, type ServerFamily } from './family.ts'

export const state: readonly ServerFamily[] = [
  gauge('minecraft_up', '1 if the last poll reached the server, 0 if not.', ({ up }, add) => add(up)),
  gauge(
    'minecraft_asleep',
    '1 while a proxy answers for the stopped server (minecraft_up is 0 then), 0 while the server itself answers; absent without MC_ASLEEP_MOTD.',
    (snapshot, add) => add(isAsleep(snapshot)),
  ),
  gauge(
    'minecraft_main_thread_responsive',
    '1 if the main thread of the server answers, 0 if the server accepts connections but its main thread does not answer; absent if no source can check it.',
    ({ mainThread }, add) => add(mainThread?.responsive),
  ),
  gauge(
    'minecraft_main_thread_delay_seconds',
    'Response time of the main thread to the last request that runs on it, in seconds; the time so far while there is no response.',
    ({ mainThread }, add) => add(mainThread?.delay),
  ),
  gauge(
    'minecraft_world_upgrade_ratio',
    'Progress of the world upgrade, 0 to 1; only while the server upgrades its world.',
    ({ fields }, add) => add(fields.worldUpgrade?.value.state === 'running' ? fields.worldUpgrade.value.progress : undefined),
  ),
  gauge(
    'minecraft_maintenance',
    '1 while a maintenance window of the server is open, 0 otherwise; alerts and notifications of the server are muted then.',
    ({ lastPollAt }, add, _group, isMaintained) => add(lastPollAt === undefined && !isMaintained ? undefined : isMaintained),
  ),
  gauge(
    'minecraft_demo',
    'Always 1, present only for the built-in demo server, whose values are all simulated.',
    ({ demo }, add) => add(demo),
  ),
  gauge(
    'minecraft_server_info',
    'Configured group of the server as a label, empty if it has none; always 1, from the first poll on.',
    ({ lastPollAt }, add, group = '') => add(lastPollAt === undefined ? undefined : 1, group),
    { labels: ['group'], perPoll: false },
  ),
  gauge(
    'minecraft_version_info',
    'Version and software of the server as labels; always 1, present only while the server is up.',
    (snapshot, add) => {
      const { version, protocol, software, loader, edition, transport } = currentFields(snapshot)
      if ((version ?? protocol ?? software ?? loader ?? edition) === undefined) return
      const text = (field?: KnownField<unknown>) => String(field?.value ?? '')
      add(1, text(version), text(protocol), text(software), text(loader), text(edition), text(transport))
    },
    { labels: ['version', 'protocol', 'software', 'loader', 'edition', 'transport'] },
  ),
]
