import type { Log } from '../../src/util/log.ts'

/** A log that collects its lines as `level: message`. */
export function collectLog(): Log & { readonly lines: readonly string[] } {
  const lines: string[] = []
  const through =
    (level: string) =>
    (...parts: readonly unknown[]) =>
      void lines.push(`${level}: ${parts.find((part) => typeof part === 'string') ?? ''}`)
  return { lines, debug() {}, info: through('info'), warn: through('warn'), error: through('error') }
}
