/** The name of every source, in the order of API replies and of settings discovery. */
export const sourceNames = ['status', 'rcon', 'management', 'query', 'jmx', 'directory'] as const
export type SourceName = (typeof sourceNames)[number]
