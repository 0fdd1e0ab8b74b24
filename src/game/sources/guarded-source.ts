import type { Mask } from '../../secrets/mask.ts'
import { maskValue } from '../../secrets/mask-value.ts'
import { maskedLog } from '../../secrets/masked-log.ts'
import type { AbortSignalLike } from '../../util/abortable.ts'
import { backoffMs } from '../../util/backoff.ts'
import type { Log } from '../../util/log.ts'
import { describeSlowWork, measureWork } from '../../util/slow-work.ts'
import { SourceError } from '../errors.ts'
import { type FieldName, type Fields, fieldDescriptions } from '../fields.ts'
import type { SourceName } from './names.ts'
import type { MainThreadActivity, Reading, RestingCommand, ServerFiles, Source, SourceContext } from './source.ts'

/** Slow replies in a row after which a source rests. */
const maxSlow = 3
const pauses = { firstMs: 30_000, maxMs: 1_800_000 }

export interface GuardedSourceOptions {
  /** Name of the server, for the log. */
  readonly server: string
  readonly name: SourceName
  readonly context: SourceContext
  /** Called again after each rest. */
  readonly create: (context: SourceContext) => Source
  /** Masks the secrets; absent if there are none. */
  readonly mask?: Mask | undefined
}

/** Masks secrets in the fields of a reading; a field whose type has no room for the mask is left out. */
function maskReading(reading: Reading, mask: Mask): Reading {
  maskValue(reading.failures, mask)
  let fields: Partial<Record<FieldName, unknown>> | undefined
  for (const key in reading.fields) {
    const name = key as FieldName
    const value = reading.fields[name]
    const masked = maskValue(value, mask)
    if (masked === value) continue
    fields ??= { ...reading.fields }
    if (fieldDescriptions[name].check(masked)) fields[name] = masked
    else delete fields[name]
  }
  return fields === undefined ? reading : { ...reading, fields: fields as Partial<Fields> }
}

/**
 * Guards the service against a source and its server. It passes on no secret, even if the server sends it back: not in a reading, an
 * event, an error or a line of the log. And it rests after three replies in a row whose reading held the event loop for too long: it is
 * closed then, and its polls fail, until it is created again after a pause. A single slow reply after that makes it rest for longer; a
 * poll without one ends this.
 */
export class GuardedSource implements Source {
  readonly #options: GuardedSourceOptions
  readonly #log: Log
  readonly mainThread?: () => MainThreadActivity
  #source: Source
  #slow = 0
  #rests = 0
  #isLogged = false
  /** A reply since the last poll was slow. */
  #wasSlow = false
  /** `until` in monotonic milliseconds. */
  #rest: { readonly error: SourceError; readonly until: number } | undefined

  constructor(options: GuardedSourceOptions) {
    const { context, mask } = options
    this.#options = options
    this.#log = mask === undefined ? context.log : maskedLog(context.log, mask)
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

  get detectsSleep(): boolean {
    return this.#source.detectsSleep ?? false
  }

  async poll(signal: AbortSignalLike, deadlineAt?: number): Promise<Reading> {
    this.#wake()
    try {
      const reading = await this.#source.poll(signal, deadlineAt)
      if (!this.#wasSlow) {
        this.#slow = 0
        this.#rests = 0
      }
      if (this.#rest !== undefined) throw this.#rest.error
      return this.#masked(reading)
    } catch (thrown) {
      const { mask } = this.#options
      const error = this.#rest?.error ?? thrown
      throw mask === undefined ? error : maskValue(error, mask)
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
    const own: Pick<SourceContext, 'log' | 'measure' | 'push'> = {
      log: this.#log,
      measure: (read) => measureWork(name, read, (took) => this.#wasRead(took)),
      push: (reading) => {
        if (this.#rest === undefined) context.push(this.#masked(reading))
      },
    }
    return create(Object.assign({}, context, own))
  }

  #masked(reading: Reading): Reading {
    const { mask } = this.#options
    return mask === undefined ? reading : maskReading(reading, mask)
  }

  /** @throws SourceError during the pause */
  #wake(): void {
    if (this.#rest === undefined) return
    if (this.#options.context.clock.now() < this.#rest.until) throw this.#rest.error
    this.#rest = undefined
    this.#source = this.#create()
  }

  /** A reply was read that took so many milliseconds. */
  #wasRead(took: number): void {
    const { server, name, context } = this.#options
    this.#wasSlow = true
    if (!this.#isLogged) {
      this.#isLogged = true
      const text = describeSlowWork(`${server}: reading a reply of ${name} (${this.target})`, took)
      this.#log.warn({ server, source: name, took }, text)
    }
    if (++this.#slow < maxSlow || this.#rest !== undefined) return
    const error = new SourceError('too_large', `${this.target}: its replies take too long to read`)
    this.#rest = { error, until: context.clock.now() + backoffMs(++this.#rests, pauses) }
    const source = this.#source
    // Not within the source, which is still reading the reply.
    queueMicrotask(() => source.close())
  }
}
