import { readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readConfig } from '../config/config.ts'
import { toServer } from '../config/read-server.ts'
import { toSourceError } from '../game/errors.ts'
import { systemNetwork } from '../game/network.ts'
import { addressOf, type GivenSources, type ServerSettings } from '../game/server-settings.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { systemClock } from '../util/clock.ts'
import { checkWritable, createFolder, exists } from '../util/create-folder.ts'
import { writeAtomic } from '../util/files.ts'
import { silentLog } from '../util/log.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call } from './command.ts'
import { configOf, inputOf } from './load-config.ts'
import { createAnonymiser, createLeakFinder, type Identifying } from './record/anonymiser.ts'
import { recordManagement } from './record/management.ts'
import { readRconRecording } from './record/rcon.ts'
import { formatRecording, type RawRecording, type Recording } from './record/recording.ts'
import { readStatusRecording } from './record/status.ts'
import { type Tapped, tapNetwork } from './record/tap.ts'
import { recordQuery, recordRakNet } from './record/udp.ts'
import { settingsFor } from './status/full-look.ts'

/** Timeout of each protocol, milliseconds. */
const timeoutMs = 10_000
/** Polls after which every RCON command was sent: they are spread over several polls. */
const rconPolls = 4

type Attempt = (signal: AbortSignal) => Promise<RawRecording>

/** Polls one source and returns the bytes of its connections. */
async function tapSource(
  server: ServerSettings,
  sources: GivenSources,
  times: number,
  signal: AbortSignal,
): Promise<readonly Tapped[]> {
  const tapped = tapNetwork(systemNetwork)
  const context = { clock: systemClock, log: silentLog, random: Math.random, push() {}, network: tapped.network }
  const set = createSources({ name: server.name, sources }, context)
  try {
    const source = set.list().at(-1)
    for (let poll = 0; poll < times; poll++) await source?.poll(signal)
  } finally {
    set.close()
  }
  return tapped.connections
}

/** How to record the protocols that the settings of a server allow. */
function attemptsFor(server: ServerSettings): readonly (readonly [Recording['protocol'], Attempt])[] {
  const { status, rcon, query: { address: queried } = {}, management } = server.sources
  const address = addressOf(server)
  const attempts: [Recording['protocol'], Attempt][] = []
  if (status !== undefined && address?.edition === 'java')
    attempts.push(['status', async (signal) => readStatusRecording(await tapSource(server, { status }, 1, signal))])
  if (address?.edition === 'bedrock') attempts.push(['status', (signal) => recordRakNet(address, signal)])
  if (rcon !== undefined) {
    const sources = { ...(status && { status }), rcon }
    attempts.push(['rcon', async (signal) => readRconRecording(await tapSource(server, sources, rconPolls, signal))])
  }
  if (queried !== undefined) attempts.push(['query', (signal) => recordQuery(queried, signal)])
  if (management?.url !== undefined && management.secret !== undefined) {
    const settings = { ...management, url: management.url, secret: management.secret }
    attempts.push(['management', (signal) => recordManagement(settings, signal)])
  }
  return attempts
}

function identifying({ sources }: ServerSettings, players: Identifying['players']): Identifying {
  const { status, rcon, query, management } = sources
  const hosts = [status?.address?.host, status?.hostname, rcon?.address?.host, query?.address?.host]
  if (management?.url !== undefined) hosts.push(new URL(management.url).hostname)
  return {
    players,
    hosts: hosts.filter((host) => host !== undefined),
    secrets: [rcon?.password, management?.secret].filter((secret) => secret !== undefined),
  }
}

/**
 * The server with the address of the command. The configured sources are its sources, unless another server is configured: then
 * they are those of the flags, or of the configured server with this address.
 * @throws UsageError that lists every wrong setting
 */
export function serverToRecord(call: Call): ServerSettings {
  const {
    servers: [named, ...others],
  } = configOf(call, { flags: { MC_SERVER: call.args[0] ?? '' } })
  const address = named && addressOf(named)
  if (named === undefined || address === undefined) throw new UsageError('record needs the address of a server')
  const isSame = (server: ServerSettings) => isDeepStrictEqual(addressOf(server), address)
  const configured = toServer(readConfig(inputOf(call)).primary)
  // One without an address is a folder of a server.
  if (configured === undefined || addressOf(configured) === undefined || isSame(configured)) return named
  const hasFlags = Object.keys(call.settings).length > 0
  return (hasFlags ? undefined : others.find(isSame)) ?? settingsFor(address, call.settings)
}

/** @throws UsageError if files cannot be written to the folder, or there are some: told before the server is polled */
async function checkFolder(folder: string): Promise<void> {
  let existing = resolve(folder)
  while (!(await exists(existing))) existing = dirname(existing)
  const isNew = existing !== resolve(folder)
  const reason = await checkWritable(existing).then(
    async () => (isNew || (await readdir(existing)).length === 0 ? undefined : 'is not empty'),
    ({ code, message }: NodeJS.ErrnoException) => `cannot be ${isNew ? 'created' : 'written to'} (${code ?? message})`,
  )
  if (reason !== undefined) throw new UsageError(`${folder} ${reason}; choose another folder with --output`)
}

/**
 * `tickwarden record ADDRESS`: writes the replies of a server to a folder as fixtures, without secrets, player names, UUIDs, host
 * names and IP addresses. A protocol that fails is reported and does not stop the others.
 * @param folder created if it does not exist and something was recorded; must be empty
 * @returns the exit code: 0 if at least one protocol was recorded, else 1
 * @throws UsageError for a folder that is not empty or cannot be written, or the reason of the signal
 */
export async function runRecord(
  server: ServerSettings,
  folder: string,
  signal: AbortSignal,
  { log, error: logError }: Pick<Console, 'log' | 'error'>,
): Promise<number> {
  if (server.via !== undefined) throw new UsageError('record does not support proxies; unset MC_VIA')
  await checkFolder(folder)
  const raw: RawRecording[] = []
  for (const [protocol, attempt] of attemptsFor(server)) {
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      raw.push(await attempt(AbortSignal.any([signal, deadline])))
    } catch (error) {
      signal.throwIfAborted()
      const reason = deadline.aborted ? `no reply within ${timeoutMs / 1000} s` : toSourceError(error, protocol).message
      logError(`${protocol}: ${reason}`)
    }
  }
  const toReplace = identifying(
    server,
    raw.flatMap(({ players }) => players),
  )
  const replace = createAnonymiser(toReplace)
  const recordings = raw.map(({ anonymise }) => anonymise(replace))
  const findLeaks = createLeakFinder(toReplace)
  for (const { protocol, exchanges } of recordings) {
    // Only replies: requests contain no data of the server, and the login is rewritten.
    if (exchanges.flatMap(({ received }) => received).some((part) => findLeaks(part).length > 0))
      throw new Error(`${protocol}: a name or secret could not be replaced, so nothing was written; please report this`)
  }
  if (recordings.length > 0) await createFolder(folder)
  for (const recording of recordings) {
    const file = join(folder, `${recording.protocol}.json`)
    await writeAtomic(file, formatRecording(recording))
    const requests = recording.exchanges.map(({ request }) => request)
    log(`${file}: ${[...new Set(requests)].join(', ')}`)
    for (const reason of recording.omitted ?? []) log(`  omitted:  ${reason}`)
  }
  if (recordings.length === 0) logError('nothing was recorded')
  else log('Check the files before you publish them: they still contain the message of the day, the icon and the world name.')
  return recordings.length === 0 ? 1 : 0
}
