import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { SourceError } from '../errors.ts'
import { nameSettings, type SettingNames } from '../setting-names.ts'
import type { SourceState } from '../snapshot.ts'
import { descriptorOf } from '../sources/descriptor-of.ts'
import type { SourceName } from '../sources/names.ts'
import type { Source } from '../sources/source.ts'

export interface SourceStatesOptions {
  readonly server: string
  readonly clock: Clock
  readonly log: Log
  /** The names of the settings for messages. */
  readonly settingNames?: SettingNames | undefined
}

const noStates: readonly SourceState[] = []

/** The state of each source of one server, for `/api/v1/sources`. Logs changes. */
export class SourceStates {
  readonly #options: SourceStatesOptions
  #states: readonly SourceState[] = noStates
  /** The error of each source's last poll, if it failed. A source that waits for its next attempt throws the same object again. */
  #thrownBy: Map<SourceName, SourceError> | undefined

  constructor(options: SourceStatesOptions) {
    this.#options = options
  }

  /** `pending` until its first poll has ended. */
  of(source: Source): SourceState {
    const { name, target } = source
    const state = this.#find(name) ?? { source: name, target, state: 'pending' }
    const resting = source.resting?.() ?? []
    if (resting.length === 0) return state
    const { clock } = this.#options
    const toWall = clock.wall() - clock.now()
    return { ...state, resting: resting.map(({ command, until }) => ({ command, until: until + toWall })) }
  }

  /**
   * Records a successful poll.
   * @param duration in seconds
   * @param failures of the parts that could not be read
   */
  ok({ name, target }: Source, duration: number, failures: readonly SourceError[] = []): void {
    const { server, clock, log } = this.#options
    const before = this.#find(name)
    if (before?.state === 'failed') log.info({ server, source: name }, `${server}: ${name} is reachable again (${target})`)
    const lastSuccess = clock.wall()
    // The usual case without spreads.
    if (failures.length === 0 && before?.lastError === undefined) {
      this.#set({ source: name, target, state: 'ok', duration, lastSuccess })
    } else {
      this.#set({
        source: name,
        target,
        duration,
        lastSuccess,
        ...(before?.lastError && { lastError: before.lastError }),
        ...this.#describeFailures(name, failures, before),
      })
    }
    this.#thrownBy?.delete(name)
  }

  /**
   * Records a failed poll.
   * @param duration in seconds
   */
  failed({ name, target, hints }: Source, duration: number, error: SourceError): void {
    const { server, clock, log, settingNames } = this.#options
    const before = this.#find(name)
    const { code, progress } = error
    const descriptor = descriptorOf(name)
    const hint = error.hint ?? (progress && descriptor.timeoutHints?.[progress]) ?? hints?.[code] ?? descriptor.hints[code]
    const message = nameSettings(hint === undefined ? error.message : `${error.message}; ${hint}`, settingNames)
    if (before?.error?.code !== code) {
      log.warn({ server, source: name, code }, `${server}: ${name} failed (${code}): ${message}`)
    }
    this.#thrownBy ??= new Map()
    const isSame = before?.lastError !== undefined && this.#thrownBy.get(name) === error
    this.#set({
      source: name,
      target,
      state: 'failed',
      duration,
      error: { code, message },
      lastError: isSame ? before.lastError : { code, message, at: clock.wall() },
      ...(before?.lastSuccess !== undefined && { lastSuccess: before.lastSuccess }),
    })
    this.#thrownBy.set(name, error)
  }

  /** Drops the states of sources that are no longer listed, or whose target has changed. */
  keepOnly(sources: readonly Source[]): void {
    const isListed = (state: SourceState) => sources.some(({ name, target }) => name === state.source && target === state.target)
    if (!this.#states.every(isListed)) this.#states = this.#states.filter(isListed)
  }

  #find(source: SourceName): SourceState | undefined {
    return this.#states.find((state) => state.source === source)
  }

  #set(state: SourceState): void {
    this.#states =
      this.#find(state.source) === undefined
        ? this.#states.concat(state)
        : this.#states.map((before) => (before.source === state.source ? state : before))
  }

  /**
   * If the same parts fail again in the next poll, it is the same failure. It is logged again only with another code, because a message may
   * differ in each poll.
   */
  #describeFailures(
    source: SourceName,
    failures: readonly SourceError[],
    before: SourceState | undefined,
  ): Pick<SourceState, 'state' | 'error' | 'lastError'> {
    const [first] = failures
    if (first === undefined) return { state: 'ok' }
    const { server, clock, log } = this.#options
    const { code } = first
    const error = { code, message: failures.map(({ message }) => message).join('; ') }
    const isSame = before?.state === 'partial' && before.error?.message === error.message
    if (before?.state !== 'partial' || before.error?.code !== code)
      log.warn({ server, source, code }, `${server}: parts of ${source} failed (${code}): ${error.message}`)
    const lastError = isSame && before.lastError ? before.lastError : { ...error, at: clock.wall() }
    return { state: 'partial', error, lastError }
  }
}
