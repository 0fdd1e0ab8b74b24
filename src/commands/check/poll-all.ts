import { type FieldName, fieldDescriptions, fieldNames } from '../../game/fields.ts'
import { createFleet } from '../../game/fleet.ts'
import { createNetwork } from '../../game/network.ts'
import { minStaleAfter, type ServerSettings } from '../../game/server-settings.ts'
import type { ServerSnapshot, SourceState } from '../../game/snapshot.ts'
import { createSources } from '../../game/sources/create-sources.ts'
import { descriptorOf } from '../../game/sources/descriptor-of.ts'
import { libraryClock as clock } from '../../library/clock.ts'
import { escapeControls } from '../../util/escape-controls.ts'
import { createLimiter } from '../../util/limiter.ts'
import { silentLog } from '../../util/log.ts'

/** Maximum number of servers that are polled at the same time. */
const maxRunning = 100
/** Maximum length of a value that is printed. */
const maxValueLength = 60

export const [ok, failed] = ['✓', '✗']

/** A value as one short text; long and complex ones are only named. */
function shown(name: FieldName, value: unknown): string {
  const { label, unit } = fieldDescriptions[name]
  const bare = label.replace(/^(the|whether) /, '')
  if (typeof value === 'boolean') return `${bare}: ${value ? 'yes' : 'no'}`
  if (typeof value === 'number') {
    // An integer, such as a port or a tick counter, is not rounded.
    const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(4))
    return `${bare} ${rounded}${unit === 'seconds' ? ' s' : ''}`
  }
  if (typeof value === 'string' && value.length <= maxValueLength && value !== '') return `${bare} ${value.replaceAll('\n', ' ')}`
  return bare
}

/** What was read by one source: at most six values. */
function describeRead({ fields }: ServerSnapshot, source: SourceState['source']): string {
  const names = fieldNames.filter((name) => fields[name]?.source === source && name !== 'rawStatus' && name !== 'formattedMotd')
  const texts = [...new Set(names.map((name) => shown(name, fields[name]?.value)))]
  const more = texts.length > 6 ? ` and ${texts.length - 6} more` : ''
  return texts.length === 0 ? 'answers' : `${texts.slice(0, 6).join(', ')}${more}`
}

/** A message of an error beside its target. */
const withoutTarget = (message: string, target: string): string => message.replace(`${target}: `, '').replace(` ${target})`, ')')

function describeSource(snapshot: ServerSnapshot, state: SourceState): string {
  const title = descriptorOf(state.source).title
  const isOk = state.state === 'ok'
  const failure = state.error?.message ?? 'no reply within the timeout'
  const text = isOk ? describeRead(snapshot, state.source) : withoutTarget(failure, state.target)
  return escapeControls(`  ${isOk ? ok : failed} ${title} (${state.target}): ${text}`)
}

/**
 * Polls each server once.
 * @param polled called with each server and its snapshot, as soon as it is known
 * @throws the reason of `stop` if it is aborted
 */
export async function pollOnce(
  servers: readonly ServerSettings[],
  { timeoutMs: timeout, stop }: { readonly timeoutMs: number; readonly stop: AbortSignal },
  polled: (snapshot: ServerSnapshot) => void,
): Promise<void> {
  const network = createNetwork({ clock, servers: servers.length })
  const interval = 1_000
  const poll = { interval, timeout, staleAfter: minStaleAfter({ interval, timeout }) }
  const fleet = createFleet({ servers: [], poll, clock, log: silentLog, network, createSources })
  const limit = createLimiter(() => maxRunning)
  const pollServer = async (server: ServerSettings) => {
    if (stop.aborted) return
    const watcher = fleet.probe(server, timeout, { network })
    const close = () => watcher.close()
    stop.addEventListener('abort', close)
    try {
      const snapshot = await watcher.poll()
      if (!stop.aborted) polled(snapshot)
    } finally {
      stop.removeEventListener('abort', close)
      close()
    }
  }
  try {
    await Promise.all(servers.map((server) => limit(() => pollServer(server))))
  } finally {
    fleet.close()
    network.close()
  }
  stop.throwIfAborted()
}

/** Polls each server once, and prints its sources as soon as they are known. @returns whether every source works */
export async function pollAll(
  servers: readonly ServerSettings[],
  { print, ...options }: { readonly timeoutMs: number; readonly stop: AbortSignal; readonly print: (text: string) => void },
): Promise<boolean> {
  let isOk = true
  await pollOnce(servers, options, (snapshot) => {
    isOk &&= snapshot.sources.length > 0 && snapshot.sources.every(({ state }) => state === 'ok')
    const sources = snapshot.sources.map((state) => describeSource(snapshot, state))
    const none = `  ${failed} no source: nothing was found in its directory`
    print([escapeControls(snapshot.server), ...(sources.length === 0 ? [none] : sources)].join('\n'))
  })
  return isOk
}
