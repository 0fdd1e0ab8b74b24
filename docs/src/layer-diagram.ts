import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { importArguments } from '../../test/tools/imports.mjs'

const root = join(import.meta.dirname, '..', '..')

const run = (tool: string, args: readonly string[], input?: string) =>
  execFileSync(join(root, 'test/tools/node_modules/.bin', tool), args, { cwd: root, input, encoding: 'utf8', maxBuffer: 2 ** 26 })

/** The folders and what each imports, drawn by dependency-cruiser. Parts that nearly everything imports are omitted. */
export function layerDiagram(): string {
  const imports = run('depcruise', [...importArguments, '--output-type', 'json'])
  const parts = [
    '--include-only',
    '^(src|exporter)/',
    '--collapse',
    '^(src/[^/]+|exporter)',
    '--exclude',
    '^src/(util|settings|secrets|config|[^/]+\\.mjs)',
  ]
  return ['```mermaid', run('depcruise-fmt', [...parts, '--output-type', 'mermaid', '-'], imports).trim(), '```'].join('\n')
}
