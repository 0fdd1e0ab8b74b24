import type { Command } from '../command.ts'

/** Loads the definition of each command, in the order of the help. Only the one that runs is loaded. */
export const commands: ReadonlyMap<string, () => Promise<Command>> = new Map(
  Object.entries({
    serve: async () => (await import('./serve.ts')).serve,
    status: async () => (await import('./status.ts')).status,
    check: async () => (await import('./check.ts')).check,
    init: async () => (await import('./init.ts')).init,
    healthcheck: async () => (await import('./healthcheck.ts')).healthcheck,
    notify: async () => (await import('./notify.ts')).notify,
    maintenance: async () => (await import('./maintenance.ts')).maintenance,
    incident: async () => (await import('./incident.ts')).incident,
    'mc-monitor': async () => (await import('./mc-monitor.ts')).mcMonitor,
    demo: async () => (await import('./demo.ts')).demo,
    update: async () => (await import('./update.ts')).update,
    record: async () => (await import('./record.ts')).record,
    authorise: async () => (await import('./authorise.ts')).authorise,
    completion: async () => (await import('./completion.ts')).completion,
  }),
)

export const loadCommands = (): Promise<readonly Command[]> => Promise.all([...commands.values()].map((load) => load()))
