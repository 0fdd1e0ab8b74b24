import { expect, it } from 'vitest'
import { decodeBulkReply } from '../../../src/game/protocol/jolokia.ts'

it.each([
  ['java.lang:name=G1 Old Gen,type=MemoryPool', 'G1 Old Gen'],
  ['java.lang:type=MemoryPool,name=G1 Old Gen', 'G1 Old Gen'],
  ["java.lang:name=CodeHeap 'non-nmethods',type=MemoryPool", "CodeHeap 'non-nmethods'"],
  ['java.lang:name="a,b",type=MemoryPool', 'a,b'],
  ['java.lang:name=a,zone=b,type=MemoryPool', 'a'],
  ['java.lang:type=MemoryPool', ''],
])('reads the name of %s', (bean, name) => {
  const pools = { status: 200, value: { [bean]: { Usage: { used: 1 } } } }
  const { memoryPools } = decodeBulkReply(JSON.stringify([{ status: 404 }, pools, { status: 404 }, { status: 404 }]))
  expect(memoryPools).toEqual([{ name, usedBytes: 1 }])
})
