import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/**
 * What waits for a time: a promise of a timer that does not only reject, the timers of Node.js that are promises, `until()` whose
 * condition is a time, and the command.
 */
const wait = new RegExp(
  [
    String.raw`new Promise\b[^}]{0,80}\bsetTimeout\((?!\(\) => reject\()`,
    String.raw`import (?:\w+|\* as \w+|\{[^}]*\b(?:setTimeout|scheduler)\b[^}]*\}) from '(?:node:)?timers/promises'`,
    String.raw`import\('(?:node:)?timers/promises'\)`,
    String.raw`promisify\(setTimeout\)`,
    String.raw`until\((?:async )?\(\) => (?:\w+ [<>]=? )?(?:performance|Date)\.now\(\)`,
    String.raw`'sleep', \[`,
    String.raw`\bsleep [\d.]+\s*[;&|'"\x60]`,
  ].join('|'),
  'g',
)
/** A comment on the same line or the one before says why there is no condition to wait for. */
const reason = /\/\/ wait: \S/

/** The lines of waits without a reason. */
function findWaits(text: string): readonly number[] {
  const lines = text.split('\n')
  return [...text.matchAll(wait)].flatMap(({ index }) => {
    const line = text.slice(0, index).split('\n').length
    return lines.slice(Math.max(0, line - 2), line).some((one) => reason.test(one)) ? [] : [line]
  })
}

it('finds what waits for a time without a reason', () => {
  const waits = [
    'await new Promise((resolve) => setTimeout(resolve, 20))',
    'const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))',
    "import { setTimeout as delay } from 'node:timers/promises'",
    'await until(() => performance.now() - from > 1_500)',
    'await until(() => lateAt < performance.now())',
    "execFileSync('sleep', ['2'])",
    "spawn('sh', ['-c', 'sleep 0.2; echo one'])",
    "import timers from 'timers/promises'",
    'const sleep = promisify(setTimeout)',
    'await new Promise((resolve) => { begin(); setTimeout(resolve, 20) })',
  ]
  const others = [
    'await until(() => isDone)',
    'const timer = setTimeout(() => deadline.abort(), 1_000)',
    "new Promise((_, reject) => setTimeout(() => reject(new Error('no reply')), 1_000))",
    "import { setImmediate as nextTurn } from 'node:timers/promises'",
    'await new Promise((resolve) => setTimeout(resolve, 20)) // wait: it is killed at any time',
    '// wait: it is killed at any time',
    'await new Promise((resolve) => setTimeout(resolve, 20))',
  ]
  expect(findWaits([...waits, ...others].join('\n'))).toEqual(waits.map((_, index) => index + 1))
})

it('tests wait for a condition, or say why there is none', () => {
  const found = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:ts|mjs)$/.test(path) && !path.includes('node_modules') && path !== 'fixed-sleeps.test.ts')
    .flatMap((path) => findWaits(readFileSync(join(import.meta.dirname, path), 'utf8')).map((line) => `${path}:${line}`))
  expect(found).toEqual([])
})
