import type { FastifyBaseLogger } from 'fastify'

/** The logger that every part receives: a subset of pino's interface. */
export type Log = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
