import closeWithGrace from 'close-with-grace'
import { loadConfig } from '../config/config.ts'
import { systemClock } from '../util/clock.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import type { Call } from './command.ts'
import { ListenError } from './listen.ts'
import { configOf, inputOf } from './load-config.ts'
import { maxCloseMs, serve } from './serve.ts'
import { createServiceLog } from './service-log.ts'

/**
 * Signals that do not close the service. SIGHUP reads the configuration again. The others are faults of Node.js or of a library in
 * machine code: a process that handles them in JavaScript comes back to the fault, forever.
 */
const otherSignals = ['SIGHUP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'] as const

/**
 * `tickwarden serve`: runs the service until a signal ends the process.
 * @returns undefined once it serves; 1 if it could not start
 */
export async function runServe(call: Call): Promise<number | undefined> {
  const config = configOf(call)
  const { logger, drain } = await createServiceLog(config.log.logLevel)
  const starting = serve(config, logger, () => loadConfig({ ...inputOf(call), ...(config.file && { file: config.file }) }))
  // From the beginning: a signal during the start must not end the process halfway, or a reload at all.
  process.on('SIGHUP', async () => {
    logger.info('SIGHUP: reading the configuration again')
    const service = await starting.catch(() => undefined)
    await service?.reload()
  })
  const grace = closeWithGrace({ delay: false, logger: false, skip: [...otherSignals] }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'unexpected error, shutting down')
    else logger.info(`${signal ?? 'stop requested'}: shutting down`)
    // A start that takes longer has nothing to lose yet.
    const closing = starting.then((service) => service.close())
    await waitUpTo(closing, maxCloseMs, systemClock).finally(() => drain(systemClock))
  })
  try {
    await starting
    return undefined
  } catch (error) {
    grace.uninstall()
    const { message } = error as Error
    const text = error instanceof ListenError ? message : `The service could not start: ${message}`
    // Printed even if LOG_LEVEL is silent.
    if (logger.isLevelEnabled('fatal')) logger.fatal(text)
    else console.error(text)
    return 1
  }
}
