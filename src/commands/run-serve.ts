import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { type Config, loadConfig } from '../config/config.ts'
import { systemClock } from '../util/clock.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import type { Call } from './command.ts'
import { ListenError } from './listen.ts'
import { configOf, inputOf } from './load-config.ts'
import { maxCloseMs, serve } from './serve.ts'

async function createLogger(config: Config) {
  const options = { level: config.log.logLevel }
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' }))
}

/**
 * `tickwarden serve`: runs the service until a signal ends the process.
 * @returns undefined once it serves; 1 if it could not start
 */
export async function runServe(call: Call): Promise<number | undefined> {
  const config = configOf(call)
  const logger = await createLogger(config)
  const starting = serve(config, logger, () => loadConfig({ ...inputOf(call), ...(config.file && { file: config.file }) }))
  // From the beginning: a signal during the start must not end the process halfway, or a reload at all.
  process.on('SIGHUP', async () => {
    logger.info('SIGHUP: reading the configuration again')
    const service = await starting.catch(() => undefined)
    await service?.reload()
  })
  const grace = closeWithGrace({ delay: false, logger: false, skip: ['SIGHUP'] }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'unexpected error, shutting down')
    else logger.info(`${signal ?? 'stop requested'}: shutting down`)
    // A start that takes longer has nothing to lose yet.
    const closing = starting.then((service) => service.close())
    await waitUpTo(closing, maxCloseMs, systemClock)
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
