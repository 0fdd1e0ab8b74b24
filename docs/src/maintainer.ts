import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** package.json, with the links that follow from `repository`, which is the only place of the maintainer's name. */
export function packageWithLinks(): string {
  const settings = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const page = repositoryPage()
  const links = { homepage: `${page}#readme`, bugs: { url: `${page}/issues` }, funding: `https://github.com/sponsors/${owner()}` }
  return `${JSON.stringify({ ...settings, ...links }, null, 2)}\n`
}

/** The version and links of the Helm chart, which is released with the service. */
export function chartVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const page = repositoryPage()
  return [`version: ${version}`, `appVersion: ${version}`, `home: ${page}`, `sources: [${page}]`].join('\n')
}

/** The page of the repository: https://github.com/OWNER/tickwarden. */
export function repositoryPage(): string {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
}

const owner = (): string => new URL(repositoryPage()).pathname.split('/')[1] ?? ''
