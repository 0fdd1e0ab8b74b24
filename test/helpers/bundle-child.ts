import { cpSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, parse } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..', '..')

/**
 * Bundles a program, for a test that starts it many times: one file loads several times faster than the hundreds that it
 * imports.
 * @param file absolute path, of JavaScript or TypeScript
 * @returns the path of the bundle, in a temporary folder
 */
export async function bundleChild(file: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-bundle-'))
  // The name and version of the package are read from a parent folder of the code.
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  // Some packages are loaded when they are needed.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const outfile = join(folder, `${parse(file).name}.mjs`)
  await build({
    ...{
      entryPoints: [file],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: true,
    },
    // The `main` file of jsonc-parser requires its other files in a way that a bundler cannot follow.
    mainFields: ['module', 'main'],
    // For the dependencies that are CommonJS.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  return outfile
}
