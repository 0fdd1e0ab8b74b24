// Adds one record after another to the maintenance of a folder, as built, until it is killed, and writes the number of each that is
// stored: `node maintenance-child.mjs <folder> <first number>`.

import { writeSync } from 'node:fs'
import { addRecords } from '../../dist/src/maintenance/records.js'

const [folder, first] = [process.argv[2], Number(process.argv[3])]
for (let number = first; ; number++) {
  const record = { id: String(number), kind: 'end', servers: ['*'], at: Date.now() }
  await addRecords(folder, [record], Date.now())
  writeSync(1, `${number}\n`)
}
