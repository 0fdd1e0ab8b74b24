import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// `npm start` builds, while another service of this folder may just be reading these files, `npm pack` packing them, or a second
// build writing them.

/** Writes a file as a whole, and only if it has changed. */
export function writeBuiltFile(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(contents))) return
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, contents)
  renameSync(temporary, path)
}

/** Removes what earlier builds wrote into the folder. @param kept - The names of the files of this build */
export function removeOldFiles(folder, kept) {
  for (const name of readdirSync(folder))
    if (!kept.has(name) && !name.endsWith('.tmp')) rmSync(join(folder, name), { force: true })
}
