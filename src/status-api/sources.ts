import type { ListStatus } from '../discovery/status.ts'
import { fieldNames } from '../game/fields.ts'
import { isAsleep, type ServerSnapshot, type SourceState } from '../game/snapshot.ts'
import { sources } from '../game/sources/index.ts'
import type { SourceName } from '../game/sources/names.ts'
import type { Static } from '../util/schema.ts'
import { describeState } from './current.ts'
import type { Sources } from './schemas.ts'
import { type SourceSituation, settingFor } from './setting-hints.ts'

const moment = (milliseconds: number): string => new Date(milliseconds).toISOString()

function describe(source: SourceName, state: SourceState | undefined): Static<typeof Sources>['sources'][number] {
  const failure = state?.lastError
  return {
    source,
    configured: state !== undefined,
    target: state?.target ?? null,
    state: state?.state ?? 'off',
    lastError: failure === undefined ? null : { code: failure.code, message: failure.message, at: moment(failure.at) },
    lastSuccess: state?.lastSuccess === undefined ? null : moment(state.lastSuccess),
    duration: state?.duration ?? null,
    resting: (state?.resting ?? []).map(({ command, until }) => ({ command, until: moment(until) })),
  }
}

/** Maximum number of messages; further ones are only counted. */
const maxRefused = 10

/** Describes the state of each list that the watched servers come from. */
export const describeLists = (lists: readonly ListStatus[]): Static<typeof Sources>['discovery'] =>
  lists.map(({ provider, name, state, servers, refused, error, readAt }) => ({
    provider,
    list: name,
    state,
    servers: servers ?? null,
    refused: refused.length,
    problems: [...(error === undefined ? [] : [error]), ...refused.slice(0, maxRefused)],
    lastSuccess: readAt === undefined ? null : moment(readAt),
  }))

/** Describes the state of each source, and for each field the source that provided it or the setting that would. */
export function describeSources(
  snapshot: ServerSnapshot,
  situation: Pick<SourceSituation, 'edition' | 'settingNames'>,
): Omit<Static<typeof Sources>, 'discovery'> {
  const { server, sources: sourceStates, fields, mainThread } = snapshot
  const upgrade = fields.worldUpgrade?.value
  const states = new Map(sourceStates.map((state) => [state.source, state]))
  const failures = new Map(sourceStates.map(({ source, state, error }) => [source, state === 'failed' ? error?.code : undefined]))
  return {
    server,
    state: describeState(snapshot),
    asleep: isAsleep(snapshot) ?? null,
    mainThread: mainThread ? { responsive: mainThread.responsive, delay: mainThread.delay ?? null } : null,
    worldUpgrade: upgrade ? { state: upgrade.state, progress: upgrade.progress ?? null } : null,
    proxy: fields.proxy?.value
      ? { software: fields.software?.value ?? '', acceptedVersions: fields.acceptedVersions?.value ?? '' }
      : null,
    sources: sources.map(({ name }) => describe(name, states.get(name))),
    fields: Object.fromEntries(
      fieldNames.map((name) => {
        const source = fields[name]?.source ?? null
        return [name, { source, setting: source === null ? (settingFor(name, { ...situation, failures }) ?? null) : null }]
      }),
    ),
  }
}
