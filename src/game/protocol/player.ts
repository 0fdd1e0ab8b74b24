export interface Player {
  readonly name: string
  /** Lower-case UUID with dashes; absent if only the name is known. */
  readonly id?: string
}
