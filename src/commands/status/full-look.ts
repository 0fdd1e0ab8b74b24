import { environment } from '../../config/config.ts'
import { readServer, toServer } from '../../config/read-server.ts'
import { findConflicts } from '../../config/server-problems.ts'
import { type ServerSettings, serverSettings } from '../../game/server-settings.ts'
import { sources } from '../../game/sources/index.ts'
import { settingsOf } from '../../game/sources/source.ts'
import type { Texts } from '../../settings/read.ts'
import { environmentOf, type Setting, type SettingTable } from '../../settings/setting.ts'
import { formatServerAddress, type ServerAddress } from '../../util/address.ts'
import { UsageError } from '../../util/usage-error.ts'
import { pollOnce } from '../check/poll-all.ts'
import { describeProblems } from '../load-config.ts'
import type { Look } from './look.ts'

/** The secrets in the environment of the sources that the flags switch on. */
export function secretsFor(flags: Texts): Texts {
  const tables: readonly SettingTable[] = [serverSettings, ...sources.map(settingsOf)]
  const used = tables
    .map((table) => Object.values(table))
    .filter((table) => table.some((one) => environmentOf(one).some((name) => name in flags)))
  const isGiven = (setting: Setting<unknown>) => environmentOf(setting).some((name) => name in flags)
  const names = used.flatMap((table) => table.flatMap((one) => (one.secret && !isGiven(one) ? environmentOf(one) : [])))
  const env = environment()
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}

/**
 * The settings of a server.
 * @param settings by environment name
 * @throws UsageError that names every mistake
 */
export function serverOf(settings: Texts, env: Texts = {}): ServerSettings {
  const problems: string[] = []
  const read = readServer({ flags: settings, env, file: new Map() }, problems)
  problems.push(...findConflicts(read, undefined))
  const server = toServer(read)
  if (problems.length > 0 || server === undefined) throw new UsageError(describeProblems(problems))
  return server
}

/** The settings of a server from flags, and their secrets from the environment. @throws UsageError */
export const settingsFor = (address: ServerAddress, flags: Texts): ServerSettings =>
  serverOf({ ...flags, MC_SERVER: formatServerAddress(address) }, secretsFor(flags))

/**
 * Polls every source of a server once.
 * @param found the result of its status, which tells the edition
 * @throws UsageError, or the reason of the signal if it is aborted
 */
export async function fullLook(found: Look, flags: Texts, timeoutMs: number, stop: AbortSignal): Promise<Look> {
  const server = { ...settingsFor(found.address, flags), name: found.target.text }
  let { snapshot } = found
  await pollOnce([server], { timeoutMs, stop }, (polled) => {
    snapshot = polled
  })
  const failure = snapshot.sources.find(({ error }) => error !== undefined)?.error
  return {
    target: found.target,
    address: found.address,
    snapshot,
    ...(snapshot.up !== true && { failure: failure ?? { code: 'internal', message: 'no source has replied' } }),
  }
}
