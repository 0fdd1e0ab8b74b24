import type { FastifyBaseLogger } from 'fastify'

/** The logger every part is handed: pino's interface, so a test may pass any object of that shape. */
export type Log = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
