import type { TextRun } from '../../game/protocol/text-runs.ts'
import { cleanText } from './clean-text.ts'

/** As in the server list of the game. */
const maxLines = 2
/** Characters of all lines; no card and no picture has room for more. */
const maxLength = 160

/** The lines of a message of the day in pieces of one style each, without invisible characters. */
export function motdLines(runs: readonly TextRun[]): readonly (readonly TextRun[])[] {
  const found: TextRun[][] = [[]]
  let left = maxLength
  for (const run of runs) {
    for (const [index, piece] of run.text.split('\n').entries()) {
      if (index > 0) found.push([])
      if (found.length > maxLines) return found.slice(0, maxLines)
      // Cleaned per line: a line break would become a space.
      const text = cleanText(piece).slice(0, left)
      left -= text.length
      if (text !== '') found.at(-1)?.push({ ...run, text })
    }
  }
  return found
}
