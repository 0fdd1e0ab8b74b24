import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { SourceError } from '../errors.ts'
import { nameSettings, type SettingNames } from '../setting-names.ts'
import type { SourceState } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { Source, SourceName } from '../sources/source.ts'

/** The state of each source of one server, for `/api/v1/sources`. Logs changes. */
export interface SourceStates {
  /** `pending` until its first poll has ended. */
  of(source: Source): SourceState
  /**
   * Records a successful poll.
   * @param duration in seconds
   * @param failures of the parts that could not be read
   */
  ok(source: Source, duration: number, failures?: readonly SourceError[]): void
  /**
   * Records a failed poll.
   * @param duration in seconds
   */
  failed(source: Source, duration: number, error: SourceError): void
  /** Drops the states of sources that are no longer listed, or whose target has changed. */
  keepOnly(sources: readonly Source[]): void
}

export interface SourceStatesOptions {
  readonly server: string
  readonly clock: Clock
  readonly log: Log
  readonly settingNames?: SettingNames | undefined
}

export function createSourceStates({ server, clock, log, settingNames }: SourceStatesOptions): SourceStates {
  const states = new Map<SourceName, SourceState>()
  /** The error of each source's last poll. A source that waits for its next attempt throws the same object again. */
  const thrownBy = new Map<SourceName, SourceError>()

  /** If the same parts fail again in the next poll, it is the same failure. */
  function describeFailures(
    failures: readonly SourceError[],
    before: SourceState | undefined,
  ): Pick<SourceState, 'state' | 'error' | 'lastError'> {
    const [first] = failures
    if (first === undefined) return { state: 'ok' }
    const error = { code: first.code, message: failures.map(({ message }) => message).join('; ') }
    const isSame = before?.state === 'partial' && before.error?.message === error.message
    const lastError = isSame && before.lastError ? before.lastError : { ...error, at: clock.wall() }
    return { state: 'partial', error, lastError }
  }

  return {
    of(source) {
      const { name, target } = source
      const state = states.get(name) ?? { source: name, target, state: 'pending' }
      const resting = source.resting?.() ?? []
      if (resting.length === 0) return state
      const toWall = clock.wall() - clock.now()
      return { ...state, resting: resting.map(({ command, until }) => ({ command, until: until + toWall })) }
    },
    ok({ name, target }, duration, failures = []) {
      const before = states.get(name)
      if (before?.state === 'failed') log.info({ server, source: name }, `${server}: ${name} is reachable again (${target})`)
      states.set(name, {
        source: name,
        target,
        duration,
        lastSuccess: clock.wall(),
        ...(before?.lastError && { lastError: before.lastError }),
        ...describeFailures(failures, before),
      })
      thrownBy.delete(name)
    },
    failed({ name, target, hints }, duration, error) {
      const before = states.get(name)
      const { code, progress } = error
      const descriptor = descriptorOf(name)
      const hint = error.hint ?? (progress && descriptor.timeoutHints?.[progress]) ?? hints?.[code] ?? descriptor.hints[code]
      const message = nameSettings(hint === undefined ? error.message : `${error.message}; ${hint}`, settingNames)
      if (before?.error?.code !== code) {
        log.warn({ server, source: name, code }, `${server}: ${name} failed (${code}): ${message}`)
      }
      const isSame = before?.lastError !== undefined && thrownBy.get(name) === error
      states.set(name, {
        source: name,
        target,
        state: 'failed',
        duration,
        error: { code, message },
        lastError: isSame ? before.lastError : { code, message, at: clock.wall() },
        ...(before?.lastSuccess !== undefined && { lastSuccess: before.lastSuccess }),
      })
      thrownBy.set(name, error)
    },
    keepOnly(sources) {
      const targets = new Map(sources.map(({ name, target }) => [name, target]))
      for (const [name, { target }] of states) if (targets.get(name) !== target) states.delete(name)
    },
  }
}
