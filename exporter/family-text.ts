import { haveSameItems } from '../src/util/same-items.ts'
import type { AddSample } from './families/family.ts'
import { knownValue, labelText } from './text.ts'

const maxLength = 65_536

/** The server whose samples are added next. All families share it, so that it is set once per server. */
export interface CurrentServer {
  /** Another number for each server. */
  number: number
  /** `{server="lobby"`, or `{` for families without the label `server`. */
  label: string
}

/**
 * The text of one family of all servers. Strings take 0.6 times the CPU of bytes written one by one for a single server, and 1.4 times for
 * 10,000, which is 90 ms per scrape.
 */
export class FamilyText {
  readonly #server: CurrentServer
  readonly #name: string
  readonly #names: readonly string[]
  readonly #header: string
  readonly #full: Buffer[] = []
  #text = ''
  /** Number of the server of the last sample. */
  #last = -1
  /** Number of samples of that server. */
  #samples = 0
  /** The labels of the last samples by their position, which are often those of the server before. */
  readonly #labels: { readonly values: readonly string[]; readonly text: string }[] = []

  /**
   * @param labels names of the labels after those of the server
   * @param header the HELP and TYPE lines, which are omitted if there are no others
   */
  constructor(server: CurrentServer, name: string, labels: readonly string[], header: string) {
    this.#server = server
    this.#name = name
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
    let labels = this.#labels[this.#samples]
    if (labels === undefined || !haveSameItems(values, labels.values)) labels = { values, text: labelText(this.#names, values) }
    for (let index = 0; index < this.#samples; index++) if (this.#labels[index]?.text === labels.text) return
    this.#labels[this.#samples++] = labels
    const { text } = labels
    if (this.#text === '' && this.#full.length === 0) this.#text = this.#header
    this.#text += `${this.#name}${label}${text !== '' && label.length > 1 ? ',' : ''}${text}} ${known}\n`
    if (this.#text.length < maxLength) return
    this.#full.push(Buffer.from(this.#text))
    this.#text = ''
  }

  /** The text in parts of about 64 KiB. */
  parts(): readonly Buffer[] {
    return [...this.#full, Buffer.from(this.#text)]
  }
}
