import type { ServerSnapshot } from '../../src/game/snapshot.ts'

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(3)} s`

/** Values as one line each; what may name players or fill pages is only counted. */
function show(name: string, value: unknown): string {
  if (Buffer.isBuffer(value)) return `${value.length} bytes`
  if (name === 'players') return `${(value as { players: readonly unknown[] }).players.length} listed`
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}...` : text
}

export interface DebugLog {
  /** A step that has just happened. */
  readonly note: (step: string) => void
  text(snapshot: ServerSnapshot, metrics: string): string
}

/** The poll step by step, for people. Settings are never written, so that no password can be. */
export function createDebugLog(now: () => number, title: string): DebugLog {
  const started = now()
  const steps: string[] = []
  const note = (step: string) => steps.push(`${seconds(now() - started).padStart(9)}  ${step}`)
  return {
    note,
    text({ up, sources, fields }, metrics) {
      const bySource = sources.map(({ source, target, state, duration, error }) => {
        const took = duration === undefined ? '' : ` in ${seconds(duration * 1000)}`
        return `  ${source} (${target}): ${state}${took}${error ? `: ${error.code}: ${error.message}` : ''}`
      })
      const known = Object.entries(fields).map(([name, field]) => `  ${name} = ${show(name, field.value)} (${field.source})`)
      return [
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
        ...known,
        '',
        'Metrics:',
        metrics,
      ].join('\n')
    },
  }
}
