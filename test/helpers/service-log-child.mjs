// Writes lines to the log of the service, as built, and ends, when it is told to. The first argument is `terminal` for text instead of JSON.
import { createServiceLog } from '../../dist/src/commands/service-log.js'
import { systemClock } from '../../dist/src/util/clock.js'

const { logger, drain } = await createServiceLog('info', { isTerminal: process.argv[2] === 'terminal' })
process.once('message', async (order) => {
  for (let number = 1; number <= 100; number++) logger.info(`line ${number}`)
  if (order === 'drain') await drain(systemClock)
  process.exit()
})
process.send('ready')
