// Writes lines to the log of the service, and ends, when it is told to. The first argument is `terminal` for text instead of JSON.
import { createServiceLog } from '../../src/commands/service-log.ts'
import { systemClock } from '../../src/util/clock.ts'

const { logger, drain } = await createServiceLog('info', { isTerminal: process.argv[2] === 'terminal' })
process.once('message', async (order: 'drain' | 'exit') => {
  for (let number = 1; number <= 100; number++) logger.info(`line ${number}`)
  if (order === 'drain') await drain(systemClock)
  process.exit()
})
process.send!('ready')
