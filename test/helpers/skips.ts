import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Skip {
  /** Path of the test file. */
  readonly file: string
  readonly reason: string
  /** True if it is for a feature that a machine may not support. */
  readonly isAllowed: boolean
}

/** Why tests of a file are skipped. */
export interface Skips {
  readonly text: string
  /** True if every reason is for a feature that a machine may not support. */
  readonly isAllowed: boolean
}

/** Tests do not run in the process of the reporter: this file passes their reasons to it. */
const recorded = () => join(tmpdir(), 'skipped.jsonl')

declare global {
  /** Of vitest, in the process of a test file. */
  var __vitest_worker__: { readonly filepath?: string } | undefined
}

/**
 * Records why tests of the current file are skipped.
 * @param isAllowed false: it fails a run with REQUIRE_TOOLS=1
 */
export function recordSkip(reason: string, isAllowed: boolean): void {
  const skip: Skip = { file: globalThis.__vitest_worker__?.filepath ?? '', reason, isAllowed }
  appendFileSync(recorded(), `${JSON.stringify(skip)}\n`)
}

/** The recorded reasons by test file. */
export function readSkips(): ReadonlyMap<string, Skips> {
  const byFile = new Map<string, Skip[]>()
  const lines = existsSync(recorded()) ? readFileSync(recorded(), 'utf8').trim().split('\n') : []
  for (const line of lines) {
    const skip = JSON.parse(line) as Skip
    byFile.set(skip.file, [...(byFile.get(skip.file) ?? []), skip])
  }
  const summarise = (skips: readonly Skip[]): Skips => ({
    text: [...new Set(skips.map(({ reason }) => reason))].join(', '),
    isAllowed: skips.every(({ isAllowed }) => isAllowed),
  })
  return new Map([...byFile].map(([file, skips]) => [file, summarise(skips)]))
}
