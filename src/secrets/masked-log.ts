import type { FastifyBaseLogger } from 'fastify'
import { escapeControls, escapeControlsInLines } from '../util/escape-controls.ts'
import type { Log } from '../util/log.ts'
import { createMask, type Mask } from './mask.ts'
import { maskValue } from './mask-value.ts'

/** Wraps a log: masks secrets in every part of a line, and escapes control characters. */
export function maskedLog(log: Log, mask: Mask): Log {
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return escapeControls(mask(value))
    if (typeof value !== 'object' || value === null) return value
    if (depth === 0) return undefined
    if (value instanceof Error) {
      const cause = value.cause === undefined ? {} : { cause: clean(value.cause, depth - 1) }
      return {
        type: value.name,
        message: escapeControls(mask(value.message)),
        stack: escapeControlsInLines(mask(value.stack ?? '')),
        ...cause,
      }
    }
    if (Array.isArray(value)) return value.map((item) => clean(item, depth - 1))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), clean(item, depth - 1)]))
  }
  const through =
    (level: keyof Log) =>
    (...line: readonly unknown[]) =>
      log[level](...(line.map((part) => clean(part, 5)) as [string]))
  return { debug: through('debug'), info: through('info'), warn: through('warn'), error: through('error') }
}

/** Where pino keeps its hooks, which a child logger inherits. */
const hooks = Symbol.for('pino.hooks')

/** Shorter secrets are only masked in what their own source reads: everywhere else they may be ordinary text. Characters. */
const minLineSecret = 8

/**
 * Masks secrets in every line of a logger of pino and of its children, whatever part of the line contains them.
 * @param secrets called for the first line, and again after the returned function has been called
 */
export function maskLines(logger: FastifyBaseLogger, secrets: () => Iterable<string>): () => void {
  let mask: Mask | undefined
  const streamWrite = (line: string): string => {
    mask ??= createMask([...secrets()].filter(({ length }) => length >= minLineSecret))
    if (mask(line) === line) return line
    return `${JSON.stringify(maskValue(JSON.parse(line), mask))}\n`
  }
  const own = logger as { [hooks]?: object }
  own[hooks] = { ...own[hooks], streamWrite }
  return () => {
    mask = undefined
  }
}
