import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readServerValues } from '../../src/config/parse-servers.ts'
import { createDiscovery } from '../../src/discovery/discovery.ts'
import { systemClock } from '../../src/util/clock.ts'
import { slowWorkOf } from '../../src/util/slow-work.ts'
import { burnCpu } from '../helpers/burn-cpu.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { collectLog } from '../helpers/log-lines.ts'

it('names a list whose reading holds the event loop for too long, once, and counts each', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'a.yaml'), 'a')
  const log = collectLog()
  const before = slowWorkOf('discovery')
  const discovery = createDiscovery({
    settings: { discoveryFolder: folder },
    readConfig: () => [],
    parseServers() {
      burnCpu()
      return []
    },
    readServer: readServerValues,
    clock: systemClock,
    log,
  })
  onTestFinished(() => discovery.close())
  await discovery.firstRead
  await discovery.reload()
  expect(slowWorkOf('discovery') - before).toBe(2)
  const lines = log.lines.filter((line) => line.includes('in which nothing else could run'))
  expect(lines).toEqual([expect.stringMatching(/a\.yaml: reading it took \d+ ms/)])
})
