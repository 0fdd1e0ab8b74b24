import type { AbortSignalLike } from '../../util/abortable.ts'
import { backoffMs } from '../../util/backoff.ts'
import { describeSlowWork, measureWork } from '../../util/slow-work.ts'
import { SourceError } from '../errors.ts'
import type { SourceName } from './names.ts'
import type { MainThreadActivity, Reading, RestingCommand, ServerFiles, Source, SourceContext } from './source.ts'

/** Slow replies in a row after which a source rests. */
const maxSlow = 3
const pauses = { firstMs: 30_000, maxMs: 1_800_000 }

export interface RestingSourceOptions {
  /** Name of the server, for the log. */
  readonly server: string
  readonly name: SourceName
  readonly context: SourceContext
  /** Called again after each rest. */
  readonly create: (context: SourceContext) => Source
}

/**
 * A source that rests after three replies in a row whose reading held the event loop for too long. It is closed then, and its polls fail,
 * until it is created again after a pause. A single slow reply after that makes it rest for longer; a poll without one ends this.
 */
export class RestingSource implements Source {
  readonly #options: RestingSourceOptions
  readonly mainThread?: () => MainThreadActivity
  #source: Source
  #slow = 0
  #rests = 0
  #isLogged = false
  /** A reply since the last poll was slow. */
  #wasSlow = false
  /** `until` in monotonic milliseconds. */
  #rest: { readonly error: SourceError; readonly until: number } | undefined

  constructor(options: RestingSourceOptions) {
    this.#options = options
    this.#source = this.#create()
    if (this.#source.mainThread !== undefined)
      this.mainThread = () => (this.#rest === undefined && this.#source.mainThread?.()) || {}
  }

  get name(): SourceName {
    return this.#options.name
  }

  get target(): string {
    return this.#source.target
  }

  get hints() {
    return this.#source.hints ?? {}
  }

  async poll(signal: AbortSignalLike, deadlineAt?: number): Promise<Reading> {
    this.#wake()
    try {
      const reading = await this.#source.poll(signal, deadlineAt)
      if (!this.#wasSlow) {
        this.#slow = 0
        this.#rests = 0
      }
      this.#throwIfResting()
      return reading
    } catch (error) {
      this.#throwIfResting()
      throw error
    } finally {
      this.#wasSlow = false
    }
  }

  resting(): readonly RestingCommand[] {
    return this.#source.resting?.() ?? []
  }

  async files(): Promise<ServerFiles | undefined> {
    return this.#rest === undefined ? this.#source.files?.() : undefined
  }

  close(): void {
    this.#rest = undefined
    this.#source.close()
  }

  #create(): Source {
    const { name, context, create } = this.#options
    const own: Pick<SourceContext, 'measure' | 'push'> = {
      measure: (read) => measureWork(name, read, (took) => this.#wasRead(took)),
      push: (reading) => {
        if (this.#rest === undefined) context.push(reading)
      },
    }
    return create(Object.assign({}, context, own))
  }

  /** @throws SourceError during the pause */
  #wake(): void {
    if (this.#rest === undefined) return
    if (this.#options.context.clock.now() < this.#rest.until) throw this.#rest.error
    this.#rest = undefined
    this.#source = this.#create()
  }

  #throwIfResting(): void {
    if (this.#rest !== undefined) throw this.#rest.error
  }

  /** A reply was read that took so many milliseconds. */
  #wasRead(took: number): void {
    const { server, name, context } = this.#options
    const { clock, log } = context
    this.#wasSlow = true
    if (!this.#isLogged) {
      this.#isLogged = true
      const text = describeSlowWork(`${server}: reading a reply of ${name} (${this.target})`, took)
      log.warn({ server, source: name, took }, text)
    }
    if (++this.#slow < maxSlow || this.#rest !== undefined) return
    const error = new SourceError('too_large', `${this.target}: its replies take too long to read`)
    this.#rest = { error, until: clock.now() + backoffMs(++this.#rests, pauses) }
    const source = this.#source
    // Not within the source, which is still reading the reply.
    queueMicrotask(() => source.close())
  }
}
