import { stripFormatting } from '../../game/protocol/text.ts'
import { maxTextRuns, parseTextRuns, type TextRun } from '../../game/protocol/text-runs.ts'
import { cleanText } from './clean-text.ts'
import { readable } from './contrast.ts'
import { h, type ViewElement } from './node.ts'
import type { ServerState } from './types.ts'

/** As in the server list of the game. */
const shownLines = 2
/** Characters of all lines; no card and no picture has room for more. */
const maxLength = 160

/**
 * A message of the day in pieces of one style each. The formatting is ignored if it is that of another message: only the status has
 * formatting, and the message may be that of another source.
 */
export function motdRuns(motd: string, formattedMotd: string | null | undefined): readonly TextRun[] {
  const runs = parseTextRuns(formattedMotd ?? motd)
  // Without the tabs and invisible characters that the message was read without.
  const text = stripFormatting(runs.map((run) => run.text).join(''))
  const isSame = runs.length < maxTextRuns ? text === motd : motd.startsWith(text)
  return isSame ? runs : parseTextRuns(motd)
}

/** The lines of a message of the day in pieces of one style each, without invisible characters. */
export function motdLines(runs: readonly TextRun[], maxLines = shownLines): readonly (readonly TextRun[])[] {
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

const formatClasses: Readonly<Record<string, string>> = { l: 'b', o: 'i', n: 'u', m: 's', k: 'k' }

/** Those of `.motd`, and white to lighten dark text with. */
const ground = { background: '#14171b', text: '#ffffff' }

function viewRun({ text, color, formats }: TextRun): ViewElement {
  const classes = [...formats].map((format) => formatClasses[format])
  if (color !== undefined && !color.startsWith('#')) classes.push(`c${color}`)
  return h(
    'span',
    {
      ...(classes.length > 0 && { class: classes.join(' ') }),
      ...(color?.startsWith('#') && { style: { color: readable(color, ground) } }),
    },
    text,
  )
}

/** The message of the day in its colours; empty if it is unknown. */
export function viewMotd({ motd, formattedMotd }: ServerState): ViewElement | undefined {
  if (motd === null) return undefined
  const shown = motdLines(motdRuns(motd, formattedMotd))
  return h('p', { class: 'motd' }, [shown.map((line) => h('bdi', {}, line.map(viewRun)))])
}
