// Takes a lock, as built, and keeps it: `node lock-child.mjs hold|with <path>`. Prints `held`, or why not, and `lost` when it is.
import { writeSync } from 'node:fs'
import { holdLock, withLock } from '../../dist/src/util/file-lock.js'

const [kind, path] = process.argv.slice(2)
const print = (text) => writeSync(1, `${text}\n`)
const keep = () => {
  print('held')
  setInterval(() => {}, 1_000_000)
}
try {
  if (kind === 'hold') {
    await holdLock(path, () => print('lost'))
    keep()
  } else
    await withLock(path, () => {
      keep()
      return new Promise(() => {})
    })
} catch (error) {
  print(error.code)
}
