// Bundles the browser's code of the status page into dist/web: files with hashed names, each also compressed, and the list of
// their names. Run by `npm run build`.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { removeOldFiles, writeBuiltFile } from '../built-files.mjs'

const client = join(dirname(fileURLToPath(import.meta.url)), 'client')
/** A file for each language. */
const texts = join(client, '..', 'view', 'texts')
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
  charset: 'utf8',
  plugins: [lightFallback],
  metafile: true,
  write: false,
}
const entryPoints = (...names) => names.map((name) => join(client, name))
const namesOf = ({ metafile }) =>
  Object.fromEntries(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [
      basename(entryPoint).replace(/\.ts$/, '.js'),
      basename(path),
    ]),
  )

/** The scripts with the texts of one language: a reader loads no other. */
async function buildLanguage(file) {
  const ownTexts = {
    name: 'own-texts',
    setup({ onResolve }) {
      onResolve({ filter: /\/texts\/en\.ts$/ }, () => ({ path: join(texts, file) }))
    },
  }
  // The graph of all servers is loaded after the rest of the page.
  const later = await build({ ...options, plugins: [ownTexts], entryPoints: entryPoints('graph.ts') })
  const loadLater = {
    name: 'load-later',
    setup({ onResolve }) {
      onResolve({ filter: /graph\.ts$/ }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: `./${namesOf(later)['graph.js']}`, external: true } : undefined,
      )
    },
  }
  const plugins = [ownTexts, loadLater]
  const first = await build({ ...options, plugins, entryPoints: entryPoints('page.ts', 'server.ts', 'docs.ts') })
  return { names: namesOf(first), outputFiles: [...first.outputFiles, ...later.outputFiles] }
}

const shared = await build({
  ...options,
  entryPoints: entryPoints('theme.ts', 'page.css', 'server.css', 'plain.css', 'docs.css'),
})
const languages = await Promise.all(readdirSync(texts).map(async (file) => [basename(file, '.ts'), await buildLanguage(file)]))
const outputFiles = [shared, ...languages.map(([, built]) => built)].flatMap((built) => built.outputFiles)

mkdirSync(out, { recursive: true })
const kept = new Set(['assets.json'])
for (const { path, contents } of outputFiles) {
  const forms = [path, `${path}.br`, `${path}.gz`]
  for (const form of forms) kept.add(basename(form))
  // To compress takes most of the time of a build.
  if (forms.every((form) => existsSync(form)) && readFileSync(path).equals(contents)) continue
  writeBuiltFile(`${path}.br`, brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
  writeBuiltFile(`${path}.gz`, gzipSync(contents, { level: 9 }))
  // Last: a build that was interrupted has not written it.
  writeBuiltFile(path, contents)
}
const names = { shared: namesOf(shared), ...Object.fromEntries(languages.map(([language, built]) => [language, built.names])) }
writeBuiltFile(join(out, 'assets.json'), `${JSON.stringify(names, null, 2)}\n`)
// Last, so that the list never names a missing file.
removeOldFiles(out, kept)
