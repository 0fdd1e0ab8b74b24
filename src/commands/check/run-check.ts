import type { Config } from '../../config/config.ts'
import { type EffectiveSetting, effectiveSettings } from '../../config/effective-settings.ts'
import { parseServerFile, readServerValues } from '../../config/parse-servers.ts'
import { createDiscovery, withPlace } from '../../discovery/discovery.ts'
import { isDiscoveryOn } from '../../discovery/settings.ts'
import { libraryClock as clock } from '../../library/clock.ts'
import { escapeControls } from '../../util/escape-controls.ts'
import { silentLog } from '../../util/log.ts'
import { waitUpTo } from '../../util/wait-up-to.ts'
import type { Call } from '../command.ts'
import { configOf, inputOf } from '../load-config.ts'
import { failed, ok, pollAll } from './poll-all.ts'

/** Maximum time that is waited for lists of servers, milliseconds. */
const maxDiscoveryMs = 10_000

/** The servers of the configuration and of every list. */
async function findServers(config: Config, print: (text: string) => void) {
  if (!isDiscoveryOn(config.discovery, config.file)) return { servers: config.servers, isOk: true }
  const discovery = createDiscovery({
    parseServers: parseServerFile,
    readServer: readServerValues,
    settings: config.discovery,
    ...(config.file !== undefined && { configFile: config.file }),
    readConfig: () => config.servers,
    clock,
    log: silentLog,
  })
  try {
    await waitUpTo(discovery.firstRead, maxDiscoveryMs, clock)
    let isOk = true
    for (const { name, servers, error, refused } of discovery.status()) {
      const unread = servers === undefined ? `it was not read within ${maxDiscoveryMs / 1_000} s` : undefined
      const problems = [error ?? unread ?? [], refused].flat()
      isOk &&= problems.length === 0
      const text =
        problems.length === 0 ? `${ok} ${name}: ${servers} servers` : `${failed} ${withPlace(name, problems.join('; '))}`
      print(escapeControls(text))
    }
    return { servers: discovery.servers(), isOk }
  } finally {
    await discovery.close()
  }
}

function printSettings(call: Call, input: ReturnType<typeof inputOf>, print: (text: string) => void): void {
  const { service, servers } = effectiveSettings(input)
  const lines = (list: readonly EffectiveSetting[]) =>
    list.map(({ name, value, from }) => escapeControls(`  ${name} = ${value} (${from})`))
  print(['Settings of the service:', ...lines(service)].join('\n'))
  for (const [index, server] of servers.entries()) print([`Settings of server ${index + 1}:`, ...lines(server)].join('\n'))
  if (call.flags.offline !== true) print('')
}

/** Prints what is wrong with the snapshots of the databases. @returns whether every entry is served */
async function checkSnapshots(config: Config, print: (text: string) => void): Promise<boolean> {
  // Loaded only here, because no other part of the command needs it.
  const { checkDatabases } = await import('../../data/check.ts')
  const checked = await checkDatabases(config)
  for (const { database, source, error, rejected = 0, rejected_entries: rejections = [], warnings = [] } of checked) {
    const isOk = error === undefined && rejected === 0
    if (isOk && warnings.length === 0 && config.databases.every(({ name }) => name !== database)) continue
    const notes = (mark: string, list: typeof warnings) =>
      list.map(({ position, reason }) => `  ${mark} position ${position}: ${reason}`)
    const more = rejected > rejections.length ? [`  ${failed} and ${rejected - rejections.length} more are rejected`] : []
    const lines = [
      `${isOk ? ok : failed} Database ${database} (${source})${error === undefined ? '' : `: ${error}`}`,
      ...[...notes(failed, rejections), ...more, ...notes('!', warnings)],
    ]
    print(lines.map(escapeControls).join('\n'))
  }
  return checked.every(({ error, rejected = 0 }) => error === undefined && rejected === 0)
}

/**
 * `tickwarden check`: reads the configuration as the service does, loads every snapshot, and polls every source of every server
 * once.
 * @returns 0 if all of them work, otherwise 1
 * @throws UsageError that lists every wrong setting
 */
export async function runCheck(
  call: Call,
  print: (text: string) => void = (text) => process.stdout.write(`${text}\n`),
): Promise<number> {
  const [address] = call.args
  const input = address === undefined ? {} : { flags: { MC_SERVER: address } }
  if (call.flags.settings) printSettings(call, inputOf(call, input), print)
  const config = configOf(call, input)
  for (const warning of config.warnings) print(escapeControls(`! ${warning}`))
  if (call.flags.offline) {
    print(`${ok} The settings are valid${config.file === undefined ? '' : `: ${config.file}`}`)
    return 0
  }
  const areSnapshotsOk = await checkSnapshots(config, print)
  const { servers, isOk: areListsOk } = await findServers(config, print)
  const isOk = areSnapshotsOk && areListsOk
  if (servers.length === 0) {
    const isDemo = config.data.dataOnly !== 'true' && !isDiscoveryOn(config.discovery, config.file)
    const demo = isDemo ? ': give an address, or set MC_SERVER. The service would watch a demo server' : ''
    print(`${areListsOk ? '!' : failed} No server is configured${demo}.`)
    return isOk ? 0 : 1
  }
  const isPolled = await pollAll(servers, { timeoutMs: config.poll.timeout, stop: call.stop, print })
  return isOk && isPolled ? 0 : 1
}
