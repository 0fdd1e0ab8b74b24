import { haveSameItems } from '../src/util/same-items.ts'
import type { AddSample } from './families/family.ts'
import { maxNumberLength, writeNumber } from './number-text.ts'
import { knownValue, labelText } from './text.ts'

const firstSize = 1_024
const maxSize = 65_536
const newline = 10

/** The server whose samples are added next. All families share it, so that it is set once per server. */
export interface CurrentServer {
  /** Another number for each server. */
  number: number
  /** Encoded: `{server="lobby"`, or `{` for families without the label `server`. */
  label: Uint8Array
}

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
  readonly #server: CurrentServer
  readonly #name: Buffer
  readonly #names: readonly string[]
  readonly #header: string
  readonly #full: Buffer[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** Number of the server of the last sample. */
  #last = -1
  /** Number of samples of that server. */
  #samples = 0
  /** The labels of the last samples by their position. */
  readonly #labels: OwnLabels[] = []

  /**
   * @param labels names of the labels after those of the server
   * @param header the HELP and TYPE lines, which are omitted if there are no others
   */
  constructor(server: CurrentServer, name: string, labels: readonly string[], header: string) {
    this.#server = server
    this.#name = Buffer.from(name)
    this.#names = labels
    this.#header = header
  }

  /**
   * Adds a sample of the current server. Of several with equal labels only the first is written, because scrapers reject
   * duplicates.
   */
  readonly add: AddSample = (value, ...values) => {
    const known = knownValue(value)
    if (known === undefined) return
    const { number, label } = this.#server
    if (number !== this.#last) {
      this.#last = number
      this.#samples = 0
    }
    const labels = this.#labelsAt(this.#samples, values, label.length > 1)
    if (this.#samples > 0 && this.#isWritten(labels)) return
    this.#samples++
    this.#addLine(label, labels.bytes, known)
  }

  /** The text in parts of at most 64 KiB, unless a single line is longer. */
  parts(): readonly Buffer[] {
    return [...this.#full, this.#bytes.subarray(0, this.#length)]
  }

  #labelsAt(index: number, values: readonly string[], isLabelled: boolean): OwnLabels {
    if (values.length === 0) return none
    const before = this.#labels[index]
    if (before !== undefined && haveSameItems(values, before.values)) return before
    const text = labelText(this.#names, values)
    const labels = { values, text, bytes: Buffer.from(`${isLabelled ? ',' : ''}${text}} `) }
    this.#labels[index] = labels
    return labels
  }

  /** Whether the current server already has a sample with these labels. */
  #isWritten({ text }: OwnLabels): boolean {
    for (let index = 0; index < this.#samples; index++) if ((this.#labels[index] ?? none).text === text) return true
    return false
  }

  #addLine(server: Uint8Array, labels: Uint8Array, value: number): void {
    const name = this.#name
    this.#reserve(name.length + server.length + labels.length + maxNumberLength + 1)
    const bytes = this.#bytes
    let at = this.#length
    for (let index = 0; index < name.length; index++) bytes[at++] = name[index] as number
    for (let index = 0; index < server.length; index++) bytes[at++] = server[index] as number
    for (let index = 0; index < labels.length; index++) bytes[at++] = labels[index] as number
    at = writeNumber(bytes, at, value)
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
