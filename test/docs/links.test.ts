import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { expect, it } from 'vitest'
import { type MarkdownPage, pagePaths, readPage } from './markdown.ts'

const root = realpathSync(join(import.meta.dirname, '..', '..'))

/** What builds and tests write. */
const made = readFileSync(join(root, '.gitignore'), 'utf8').split('\n')

/** The problem of a link or an image of a page; undefined if there is none. */
function problemOf({ path, anchors }: MarkdownPage, href: string): string | undefined {
  if (/^http:\/\/(127\.0\.0\.1|localhost):/.test(href)) return undefined
  if (/^[a-z]+:/.test(href)) return URL.canParse(href) && href.startsWith('https:') ? undefined : `${href}: not an https URL`
  const [target = '', hash] = href.split('#')
  const file = normalize(join(dirname(path), decodeURIComponent(target)))
  if (target !== '' && (file.startsWith('..') || !existsSync(join(root, file)))) return `${href}: there is no ${file}`
  // Names are case-sensitive where the pages are read.
  if (target !== '' && relative(root, realpathSync.native(join(root, file))) !== file.replace(/\/$/, ''))
    return `${href}: letter case`
  if (hash === undefined) return undefined
  const found = target === '' ? anchors : file.endsWith('.md') ? readPage(file).anchors : new Set<string>()
  return found.has(hash) ? undefined : `${href}: there is no heading #${hash} in ${file}`
}

it.each(pagePaths)('%s links to pages, headings and pictures that exist', (path) => {
  const page = readPage(path)
  expect(page.links.flatMap((href) => problemOf(page, href) ?? [])).toEqual([])
})

it('finds broken links', () => {
  const page = { ...readPage('README.md'), anchors: new Set(['here']) }
  expect(problemOf(page, '#here')).toBeUndefined()
  expect(problemOf(page, 'CHANGELOG.md')).toBeUndefined()
  for (const href of ['#nowhere', 'missing.md', 'CHANGELOG.md#nowhere', '../outside.md', 'http://example.org/'])
    expect(problemOf(page, href), href).toBeDefined()
})

it.each(pagePaths.filter((path) => path !== 'CHANGELOG.md'))('%s names files that exist', (path) => {
  const named = readPage(path).codes.filter(
    (code) => /^(src|test|docs|exporter|grafana|bench|config)\/[\w./-]+$/.test(code) && !code.endsWith('tickwarden.yaml'),
  )
  expect(named.filter((file) => !made.includes(file) && !existsSync(join(root, file)))).toEqual([])
})
