// Bundles the browser's code of the status page into dist/web: files with hashed names, each also compressed, and the list of
// their names. Run by `npm run build`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const client = join(dirname(fileURLToPath(import.meta.url)), 'client')
const out = join(client, '..', '..', '..', 'dist', 'web')

/** For browsers older than light-dark() (2024): the light colours alone. */
const lightFallback = {
  name: 'light-fallback',
  setup({ onLoad }) {
    onLoad({ filter: /palette\.css$/ }, ({ path }) => {
      const palette = readFileSync(path, 'utf8')
      const [colors = ''] = palette.match(/:root \{[^{}]*\}/) ?? []
      const light = colors.replace('light dark', 'light').replace(/light-dark\((#\w+), #\w+\)/g, '$1')
      return { loader: 'css', contents: `${palette}@supports not (color: light-dark(red, red)) {${light}}` }
    })
  },
}

const options = {
  outdir: out,
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'safari16'],
  legalComments: 'none',
  plugins: [lightFallback],
  metafile: true,
  write: false,
}
const entryPoints = (...names) => names.map((name) => join(client, name))
// The graph of all servers is loaded after the rest of the page.
const later = await build({ ...options, entryPoints: entryPoints('graph.ts') })
const [graph = ''] = Object.keys(later.metafile.outputs).map((path) => basename(path))
const loadLater = {
  name: 'load-later',
  setup({ onResolve }) {
    onResolve({ filter: /graph\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${graph}`, external: true } : undefined,
    )
  },
}
const first = await build({
  ...options,
  plugins: [lightFallback, loadLater],
  entryPoints: entryPoints('page.ts', 'server.ts', 'docs.ts', 'theme.ts', 'page.css', 'server.css', 'plain.css', 'docs.css'),
})
const outputFiles = [...first.outputFiles, ...later.outputFiles]

mkdirSync(out, { recursive: true })
const written = new Set()
const write = (path, contents) => {
  writeFileSync(path, contents)
  written.add(basename(path))
}
for (const { path, contents } of outputFiles) {
  write(path, contents)
  write(`${path}.br`, brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
  write(`${path}.gz`, gzipSync(contents, { level: 9 }))
}
const names = Object.entries(first.metafile.outputs).map(([path, { entryPoint = '' }]) => [
  basename(entryPoint).replace(/\.ts$/, '.js'),
  basename(path),
])
write(join(out, 'assets.json'), `${JSON.stringify(Object.fromEntries(names), null, 2)}\n`)
// Last, so that the list never names a missing file.
for (const name of readdirSync(out)) if (!written.has(name)) rmSync(join(out, name))
