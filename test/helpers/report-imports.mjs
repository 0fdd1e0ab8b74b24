// For `--import`: writes the name of each package that is imported, once, to the file in IMPORTS_FILE.
import { register } from 'node:module'

const hook = `
const seen = new Set()
export async function resolve(specifier, context, next) {
  if (!/^[./#]|^(node|file|data):/.test(specifier)) {
    const name = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
    if (!seen.has(name)) (await import('node:fs')).appendFileSync(${JSON.stringify(process.env.IMPORTS_FILE)}, name + '\\n')
    seen.add(name)
  }
  return next(specifier, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
