import { stripFormatting } from './text.ts'

export interface Player {
  readonly name: string
  /** Lower-case UUID with dashes; absent if only the name is known. */
  readonly id?: string
}

/** A player's name without formatting codes, and without characters that could reorder or break the text around it. */
export const plainName = (text: string): string => stripFormatting(text).replaceAll('\n', ' ').trim()
