import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Skip {
  /** Path of the test file. */
  readonly file: string
  readonly reason: string
}

/** Test files run in processes of their own: this file brings their reasons to the reporter. */
const recorded = () => join(tmpdir(), 'skipped.jsonl')

declare global {
  /** Of vitest, in the process of a test file. */
  var __vitest_worker__: { readonly filepath?: string } | undefined
}

/** Records why tests of the current file are skipped. */
export function recordSkip(reason: string): void {
  const skip: Skip = { file: globalThis.__vitest_worker__?.filepath ?? '', reason }
  appendFileSync(recorded(), `${JSON.stringify(skip)}\n`)
}

/** The recorded reasons by test file. */
export function readSkips(): ReadonlyMap<string, ReadonlySet<string>> {
  const reasons = new Map<string, Set<string>>()
  const lines = existsSync(recorded()) ? readFileSync(recorded(), 'utf8').trim().split('\n') : []
  for (const line of lines) {
    const { file, reason } = JSON.parse(line) as Skip
    reasons.set(file, (reasons.get(file) ?? new Set()).add(reason))
  }
  return reasons
}
