import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { prepareJson, sendPrepared } from '../http/replies/reply.ts'
import { json, preparedReplies } from '../http/replies/responses.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import type { DatabaseDeclaration } from './databases/declaration.ts'
import { defineDatabase } from './databases/declared.ts'
import type { DatabaseDefinition } from './databases/definition.ts'
import { databases as allDatabases } from './databases/index.ts'
import { registerBasic } from './routes/basic.ts'
import { registerDatabase } from './routes/register.ts'
import { registerRunRoutes } from './routes/runs.ts'
import { DataStatus } from './routes/schemas.ts'
import { createRuns } from './runs/index.ts'
import { createProtection } from './runs/protection.ts'
import { startSchedule } from './runs/schedule.ts'
import type { SharedLocks } from './runs/shared-lock.ts'
import { scripts as allScripts } from './scripts/index.ts'
import { type Script, scriptSettings } from './scripts/script.ts'
import type { DataSettings, RunSettings } from './settings.ts'
import { openStore } from './store/store.ts'

interface DataServiceOptions {
  readonly config: Parameters<typeof scriptSettings>[0] & {
    /** Address of the service. */
    readonly host: string
    readonly data: DataSettings
    /** Declared in the config file. */
    readonly databases: readonly DatabaseDeclaration[]
    readonly runs: RunSettings
  }
  readonly clock: Clock
  readonly log: Log
  /** Those in code, without those of the configuration; default: all. */
  readonly databases?: readonly DatabaseDefinition[]
  readonly scripts?: readonly Script[]
  /** Returns the current token of the script-run routes; default: that of the configuration. */
  readonly runToken?: () => string | undefined
  /** Locks shared with other replicas; undefined if there are none. */
  readonly sharedLocks?: SharedLocks | undefined
}

/** The databases, and the scripts that update them. */
export type DataService = Awaited<ReturnType<typeof createDataService>>

/** Opens the databases and starts the schedule. */
export async function createDataService(options: DataServiceOptions) {
  const { config, clock, log, scripts = allScripts, sharedLocks } = options
  const databases = [...(options.databases ?? allDatabases), ...config.databases.map(defineDatabase)]
  const { host, data, runs: settings } = config
  const { runToken = () => settings.runToken } = options
  const values = scriptSettings(config)
  const dataDir = data.dataDir === undefined ? undefined : resolve(data.dataDir)
  const store = await openStore({ databases, settings: data, clock, log })
  const runs = createRuns({
    ...{ scripts, values, dataDir, clock, log, sharedLocks },
    pauseMs: settings.runPause,
    // The store notices the new file by itself, but later than a client that reads right after the run.
    onEnd: async ({ database }) => {
      if (database !== undefined) await store.refresh(database)
    },
  })
  const schedule = startSchedule({ runs, scripts, values, dataDir, schedule: settings.updateSchedule, clock, log, store })
  return {
    ...{ store, databases, clock, runs, schedule, scripts },
    // OpenAPI tags. Several databases may share one, which is described by the first.
    tags: [...new Map(databases.toReversed().map(({ tag }) => [tag.name, tag])).values()].reverse(),
    /** Throws for requests that must not use the script-run routes. */
    protect: createProtection(host, runToken),
    /** Stops the schedule and the runs, then the databases. */
    async close() {
      schedule.stop()
      await runs.close()
      await store.close()
    },
  }
}

/** The routes of the data service, `/v1/...`. */
export function registerDataService(app: FastifyInstance, service: DataService): void {
  const { store, databases, clock } = service
  registerBasic(app)
  const summary = 'State of the databases'
  const schema = {
    tags: ['basic'],
    summary,
    description: 'For each database the source of its snapshot, whether it could be loaded, and what is served.',
    response: preparedReplies({ description: summary, content: json(DataStatus) }),
  }
  app.get('/v1/status', { schema }, (request, reply) => sendPrepared(request, reply, prepareJson({ databases: store.status() })))
  for (const definition of databases) {
    registerDatabase({ app, definition, clock, current: () => store.current(definition.name) })
  }
  registerRunRoutes(app, service)
}
