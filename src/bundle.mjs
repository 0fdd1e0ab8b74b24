// Replaces the compiled dist/src/main.js by a bundle of all modules that it imports, in a few files: reading four hundred small
// ones takes a quarter of the CPU time of a start (`npm run bench -- start`). Run by `npm run build`.
import { mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { removeOldFiles, writeBuiltFile } from './built-files.mjs'

const source = dirname(fileURLToPath(import.meta.url))
const out = join(source, '..', 'dist', 'src')
const chunks = join(out, 'chunks')

const { outputFiles } = await build({
  entryPoints: [join(source, 'main.ts')],
  outdir: out,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  // What is imported when it is first needed stays in files of its own.
  splitting: true,
  packages: 'external',
  external: ['#check-node', '#history-thread'],
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  write: false,
})

mkdirSync(chunks, { recursive: true })
for (const { path, contents } of outputFiles) writeBuiltFile(path, contents)
removeOldFiles(chunks, new Set(outputFiles.map(({ path }) => basename(path))))
