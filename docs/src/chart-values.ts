import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml'
import { code, table } from './table.ts'

const values = join(import.meta.dirname, '..', '..', 'charts', 'tickwarden', 'values.yaml')

/** The values below a key: path, default, and the comment `# -- ...` before it. */
function rowsOf(map: YAMLMap, prefix: string): readonly (readonly string[])[] {
  return map.items.flatMap(({ key, value }, index) => {
    if (!isScalar(key)) return []
    const path = `${prefix}${key.value}`
    if (isMap(value) && !value.flow && value.items.length > 0) return rowsOf(value, `${path}.`)
    // A comment before the first key belongs to the mapping.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? ''
    const [, meaning = ''] = /^ -- (.*)$/m.exec(comment) ?? []
    return [[code(path), code(JSON.stringify(isScalar(value) ? value.value : (value as YAMLMap).toJSON())), meaning]]
  })
}

/** Every value of the Helm chart. */
export function chartValueTable(): string {
  const { contents } = parseDocument(readFileSync(values, 'utf8'))
  return table(['value', 'default', 'meaning'], ...(isMap(contents) ? rowsOf(contents, '') : []))
}
