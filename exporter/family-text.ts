import { haveSameItems } from '../src/same-items.ts'
import type { Sample } from './families/family.ts'
import { labelText } from './text.ts'

const firstSize = 1_024
const maxSize = 65_536
const newline = 10

/** The labels of a family, as written after those of the server. */
interface OwnLabels {
  readonly values: readonly string[]
  /** `source="status"` */
  readonly text: string
  /** `,source="status"} `: up to the value; without the comma if the server has no label. */
  readonly bytes: Uint8Array
}

const none: OwnLabels = { values: [], text: '', bytes: Buffer.from('} ') }

/**
 * The text of one family of all servers, as bytes. They are written one by one, and labels and values are encoded once if the
 * server before has the same: strings of millions of pieces, which must be joined and then encoded, take twice as long
 * (`npm run bench -- metrics`).
 */
export class FamilyText {
  readonly #name: Buffer
  readonly #names: readonly string[]
  readonly #header: string
  readonly #full: Buffer[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** The labels of the last samples by their position. */
  readonly #labels: OwnLabels[] = []
  #value = Number.NaN
  /** `#value` as text. */
  #digits = ''

  /**
   * @param labels names of the labels after those of the server
   * @param header the HELP and TYPE lines, which are omitted if there are no others
   */
  constructor(name: string, labels: readonly string[], header: string) {
    this.#name = Buffer.from(name)
    this.#names = labels
    this.#header = header
  }

  /**
   * Adds the samples of a server. Of several with equal labels only the first is written, because scrapers reject duplicates;
   * values that are not finite are not written.
   * @param server encoded: `{server="lobby"`, or `{` if it has no label; the same for all servers of a family
   */
  add(server: Uint8Array, samples: readonly Sample[]): void {
    const written = samples.length > 1 ? new Set<string>() : undefined
    for (let index = 0; index < samples.length; index++) {
      const sample = samples[index] as Sample
      if (!Number.isFinite(sample.value)) continue
      const { text, bytes } = this.#labelsOf(index, sample, server.length > 1)
      if (written?.has(text)) continue
      written?.add(text)
      this.#addSample(server, bytes, sample.value)
    }
  }

  /** The text in parts of at most 64 KiB, unless a single line is longer. */
  parts(): readonly Buffer[] {
    return [...this.#full, this.#bytes.subarray(0, this.#length)]
  }

  #labelsOf(index: number, sample: Sample, isLabelled: boolean): OwnLabels {
    const values = sample.labels
    if (values.length === 0) return none
    const before = this.#labels[index]
    if (before !== undefined && haveSameItems(values, before.values)) return before
    const text = labelText(this.#names, sample)
    const labels = { values, text, bytes: Buffer.from(`${isLabelled ? ',' : ''}${text}} `) }
    this.#labels[index] = labels
    return labels
  }

  #addSample(server: Uint8Array, labels: Uint8Array, value: number): void {
    if (value !== this.#value) {
      this.#value = value
      this.#digits = String(value)
    }
    const name = this.#name
    const digits = this.#digits
    this.#reserve(name.length + server.length + labels.length + digits.length + 1)
    const bytes = this.#bytes
    let at = this.#length
    for (let index = 0; index < name.length; index++) bytes[at++] = name[index] as number
    for (let index = 0; index < server.length; index++) bytes[at++] = server[index] as number
    for (let index = 0; index < labels.length; index++) bytes[at++] = labels[index] as number
    for (let index = 0; index < digits.length; index++) bytes[at++] = digits.charCodeAt(index)
    bytes[at++] = newline
    this.#length = at
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return
    const isFirst = this.#bytes.length === 0
    if (!isFirst) this.#full.push(this.#bytes.subarray(0, this.#length))
    // No character takes more than three bytes per UTF-16 code unit.
    const needed = size + (isFirst ? this.#header.length * 3 : 0)
    this.#bytes = Buffer.allocUnsafe(Math.max(needed, Math.min(maxSize, Math.max(firstSize, this.#bytes.length * 2))))
    this.#length = isFirst ? this.#bytes.write(this.#header) : 0
  }
}
