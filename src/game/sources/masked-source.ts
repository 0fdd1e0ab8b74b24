import type { Mask } from '../../secrets/mask.ts'
import { maskValue } from '../../secrets/mask-value.ts'
import { maskedLog } from '../../secrets/masked-log.ts'
import type { AbortSignalLike } from '../../util/abortable.ts'
import { type FieldName, type Fields, fieldDescriptions } from '../fields.ts'
import type { MainThreadActivity, Reading, RestingCommand, ServerFiles, Source, SourceContext } from './source.ts'

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

/** A source whose readings and errors contain none of its secrets, even if the server sends them back. */
class MaskedSource implements Source {
  readonly #source: Source
  readonly #mask: Mask
  readonly mainThread?: () => MainThreadActivity

  constructor(source: Source, mask: Mask) {
    this.#source = source
    this.#mask = mask
    if (source.mainThread !== undefined) this.mainThread = source.mainThread.bind(source)
  }

  get name() {
    return this.#source.name
  }

  get target(): string {
    return this.#source.target
  }

  get hints() {
    return this.#source.hints ?? {}
  }

  async poll(signal: AbortSignalLike, deadlineAt?: number): Promise<Reading> {
    try {
      return maskReading(await this.#source.poll(signal, deadlineAt), this.#mask)
    } catch (error) {
      throw maskValue(error, this.#mask)
    }
  }

  resting(): readonly RestingCommand[] {
    return this.#source.resting?.() ?? []
  }

  async files(): Promise<ServerFiles | undefined> {
    return this.#source.files?.()
  }

  close(): void {
    this.#source.close()
  }
}

/** Creates a source that never passes on its secrets: not in a reading, an event, an error or a line of the log. */
export function createMaskedSource(create: (context: SourceContext) => Source, context: SourceContext, mask: Mask): Source {
  const push = (reading: Reading) => context.push(maskReading(reading, mask))
  return new MaskedSource(create({ ...context, push, log: maskedLog(context.log, mask) }), mask)
}
