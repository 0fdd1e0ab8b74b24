// Stands for readers with faults that end or block their process.
import { writeSync } from 'node:fs'

process.on('message', ({ fault, number }) => {
  // Without having tried an input, for which a busy machine may need longer than the test lets a reader hang.
  if (fault === 'none') return process.send('done')
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  writeSync(4, bytes, 0, bytes.length, 0)
  const kept = []
  while (fault === 'hang');
  while (fault === 'memory') kept.push(Array.from({ length: 1_000 }, () => ({})))
  return undefined
})
