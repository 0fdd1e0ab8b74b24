// Gives the pictures and links of README.md absolute URLs while the package is packed, because a package page has no other files;
// `--undo` restores it. Run by `npm pack` and `npm publish`.
import { readFileSync, writeFileSync } from 'node:fs'

const { repository, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const [, path = ''] = /github\.com\/(.+)\.git$/.exec(repository.url) ?? []
const pictures = `https://raw.githubusercontent.com/${path}/v${version}/`
const pages = `https://github.com/${path}/blob/v${version}/`
const readme = readFileSync('README.md', 'utf8')

/** Without the maintainer's name there is no such repository; the relative links work in the installed folder. */
if (!path.startsWith('OWNER/')) {
  const text = process.argv.includes('--undo')
    ? readme.replaceAll(`](${pictures}`, '](').replaceAll(`](${pages}`, '](')
    : readme.replaceAll(/(!?)(\[[^\][]*\]\()(?![a-z]+:|#)/g, (_, mark, label) => mark + label + (mark ? pictures : pages))
  writeFileSync('README.md', text)
}
