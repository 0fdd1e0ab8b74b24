import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseTable, fieldTable, providerTable, scriptTable, serverSettingTable, sourceTable } from './tables.ts'

const root = join(import.meta.dirname, '..', '..')

/** What stands between `<!-- generated: NAME -->` and `<!-- end -->`, by file and name. */
const parts: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': {
    sources: sourceTable,
    'server settings': serverSettingTable,
    providers: providerTable,
    databases: databaseTable,
    scripts: scriptTable,
  },
  'docs/fields.md': { fields: fieldTable },
}

/** @throws RangeError where the text has no such markers */
function replaced(text: string, name: string, content: string): string {
  const begin = `<!-- generated: ${name} -->\n`
  const start = text.indexOf(begin)
  const end = text.indexOf('\n<!-- end -->', start)
  if (start < 0 || end < 0) throw new RangeError(`there is no "${begin.trim()}" with an "<!-- end -->"`)
  return `${text.slice(0, start + begin.length)}\n${content}\n${text.slice(end)}`
}

/** The pages with their generated parts as the code has them, by path from the project's root. */
export const pages = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(parts).map(([path, made]) => [
      path,
      Object.entries(made).reduce((text, [name, make]) => replaced(text, name, make()), readFileSync(join(root, path), 'utf8')),
    ]),
  )

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(pages())) {
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}
