/** A kind of setting or query parameter: parses its text and describes the valid values. */
export interface Kind<T> {
  /** Description of the valid values, for messages: `expected ...`. */
  readonly expected: string
  /** Advice for a likely mistake, instead of the valid values; undefined for any other text. */
  advise?(text: string): string | undefined
  /** A valid value, for examples of the config file. */
  readonly example?: string
  /** Set for a comma-separated list. */
  readonly many?: true
  /** Every valid text, if they are few. */
  readonly choices?: readonly string[]
  /** Set for local files and folders, which only the administrator may set. */
  readonly isLocal?: true
  /** Undefined if the text is not valid. */
  parse(text: string): T | undefined
  /** The inverse of parse(); default: the value itself. */
  format?(value: T): string
}

export const oneOf = <const T extends string>(...choices: readonly T[]): Kind<T> => ({
  example: choices[0] ?? '',
  choices,
  expected: `one of ${choices.join(', ')}`,
  parse: (given) => choices.find((choice) => choice === given),
})

export const list = <T>(item: Kind<T>): Kind<readonly T[]> => ({
  ...(item.example !== undefined && { example: item.example }),
  expected: `a comma-separated list, each ${item.expected}`,
  many: true,
  parse(given) {
    const parts = given.split(',').map((part) => part.trim())
    const values = parts.filter((part) => part !== '').map((part) => item.parse(part))
    return values.some((value) => value === undefined) ? undefined : (values as readonly T[])
  },
})
