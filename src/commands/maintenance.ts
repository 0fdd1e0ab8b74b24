import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { findUnknownServers } from '../config/server-names.ts'
import { isDiscoveryOn } from '../discovery/settings.ts'
import { stateFolderOf } from '../history/settings.ts'
import { addFollowed, addNewRecord, type MaintenanceRecord, newRecordId, recordFromText } from '../maintenance/records.ts'
import { duration } from '../settings/kinds/index.ts'
import { systemClock } from '../util/clock.ts'
import { exists } from '../util/create-folder.ts'
import { silentLog } from '../util/log.ts'
import { UsageError } from '../util/usage-error.ts'
import { type Call, flagValue } from './command.ts'

const maxReason = 200

/** Reports names that match no server. Servers of other providers are not known here. */
function checkServers(names: readonly string[], { servers, discovery, file }: Config): void {
  if (servers.length === 0 || isDiscoveryOn(discovery, file)) return
  const [problem] = findUnknownServers(names, servers)
  if (problem !== undefined) throw new UsageError(problem)
}

/** Passes a record to the replicas. @throws Error */
async function share({ cluster }: Config, record: MaintenanceRecord): Promise<void> {
  const { stateUrl: address, statePassword: password, statePrefix: prefix, stateHeartbeat } = cluster
  if (address === undefined) return
  const [{ StateConnection }, { createSharedValues }] = await Promise.all([
    import('../cluster/connection.ts'),
    import('../cluster/shared-data.ts'),
  ])
  const connection = new StateConnection({
    ...{ address, prefix, password, clock: systemClock, log: silentLog },
    ...{ timeoutMs: 5_000, maxBlockMs: stateHeartbeat, maxRetryMs: 500 },
  })
  try {
    const late = Date.now() + 5_000
    while (!connection.isConnected && Date.now() < late) await new Promise((retry) => setTimeout(retry, 20))
    const values = createSharedValues(connection, 'maintenance')
    const known = Object.values(await values.all()).flatMap((text) => recordFromText(text) ?? [])
    await values.put(record.id, JSON.stringify(addFollowed(record, known)))
  } finally {
    connection.close()
  }
}

/**
 * `tickwarden maintenance start|end`: adds a record that the running service, or every replica, reads.
 * @returns the exit code
 * @throws UsageError
 */
export async function runMaintenance(
  call: Call,
  config: Config,
  { log, error }: Pick<Console, 'log' | 'error'>,
): Promise<number> {
  const [action, ...servers] = call.args
  checkServers(servers, config)
  const lasts = flagValue(call, 'for', duration('1m', '30d'))
  const { reason } = call.flags
  const now = Date.now()
  const id = newRecordId()
  const record: MaintenanceRecord =
    action === 'end'
      ? { id, kind: 'end', servers, at: now }
      : {
          id,
          kind: 'start',
          servers,
          from: now,
          to: now + lasts,
          reason: typeof reason === 'string' ? reason.slice(0, maxReason) : '',
        }
  const folder = stateFolderOf({ ...config.history, ...config.data })
  if (folder === undefined && config.cluster.stateUrl === undefined) {
    error('Set HISTORY_DIR, DATA_DIR or STATE_URL, as for the service.')
    return 4
  }
  // The service creates it at its start: a folder that this command created would be one that no service reads.
  if (folder !== undefined && !(await exists(folder))) {
    const name = config.history.historyDir === undefined ? 'DATA_DIR' : 'HISTORY_DIR'
    error(`${name} is "${folder}", which does not exist; set it to the ${name} of the service.`)
    return 1
  }
  try {
    await share(config, folder === undefined ? record : await addNewRecord(resolve(folder), record, now))
  } catch (failure) {
    error(`It could not be stored: ${(failure as Error).message}`)
    return 1
  }
  const names = servers.join(', ')
  log(
    record.kind === 'end'
      ? `The maintenance of ${names} has ended.`
      : `${names}: in maintenance until ${new Date(now + lasts).toISOString()}.`,
  )
  return 0
}
