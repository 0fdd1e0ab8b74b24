import { escapeControls } from '../../util/escape-controls.ts'

export interface Player {
  /** Returned by {@link toPlayerName}. */
  readonly name: string
  /** Lower-case UUID with dashes; absent if only the name is known. */
  readonly id?: string
}

/**
 * A name that is safe to show: control characters and those that reorder text become `\u202e` and the like, as does a backslash where the
 * name already has that text. They are not removed, because two players must not become one.
 */
export const toPlayerName = (text: string): string => escapeControls(text.replace(/\\(?=u[0-9a-f]{4})/g, '\\u005c'))
