import { fieldNames } from '../../src/game/fields.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { escapeControls, escapeControlsInLines } from '../../src/util/escape-controls.ts'

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(3)} s`

/** One line per value. Values that may name players or are very long are only counted. */
function show(name: string, value: unknown): string {
  if (Buffer.isBuffer(value)) return `${value.length} bytes`
  if (name === 'players') return `${(value as { players: readonly unknown[] }).players.length} listed`
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}...` : text
}

export type DebugLog = ReturnType<typeof createDebugLog>

/** The steps of a poll as readable text. Settings are never included, so that no password can leak. */
export function createDebugLog(now: () => number, title: string) {
  const started = now()
  const steps: string[] = []
  /** Records a step with the current time. */
  const note = (step: string): void => void steps.push(`${seconds(now() - started).padStart(9)}  ${step}`)
  return {
    note,
    text({ up, sources, fields }: ServerSnapshot, metrics: string): string {
      const bySource = sources.map(({ source, target, state, duration, error }) => {
        const took = duration === undefined ? '' : ` in ${seconds(duration * 1000)}`
        return `  ${source} (${target}): ${state}${took}${error ? `: ${error.code}: ${error.message}` : ''}`
      })
      const values = fieldNames.flatMap((name) => {
        const field = fields[name]
        return field === undefined ? [] : [`  ${name} = ${show(name, field.value)} (${field.source})`]
      })
      const lines = [
        title,
        '',
        'Steps:',
        ...steps.map((step) => `  ${step}`),
        '',
        `Outcome: ${up ? 'up' : 'down'}`,
        '',
        'Sources:',
        ...bySource,
        '',
        'Fields:',
        ...values,
        '',
        'Metrics:',
      ]
      // Texts of the server must not change how the lines are displayed.
      return [...lines.map(escapeControls), escapeControlsInLines(metrics)].join('\n')
    },
  }
}
