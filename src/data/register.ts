import type { FastifyInstance } from 'fastify'
import { prepareJson, sendPrepared } from '../http/reply.ts'
import { json, preparedReplies } from '../http/responses.ts'
import { registerBasic } from './basic.ts'
import { registerComebacks } from './comebacks.ts'
import { registerProjects } from './projects.ts'
import { DataStatus } from './schemas.ts'
import { openStore, type Store, type StoreOptions } from './store.ts'

/** The data service, `/v1/...`. The store that it answers from is closed with the app. */
export async function registerData(app: FastifyInstance, options: StoreOptions): Promise<Store> {
  const store = await openStore(options)
  app.addHook('onClose', () => store.close())
  registerBasic(app)
  registerStatus(app, store)
  registerProjects(app, store)
  registerComebacks(app, store, options.clock)
  return store
}

function registerStatus(app: FastifyInstance, store: Store): void {
  const summary = 'State of the two databases'
  const schema = {
    tags: ['basic'],
    summary,
    description: 'Where the snapshot of each comes from, whether it could be loaded, and what is served.',
    response: preparedReplies({ description: summary, content: json(DataStatus) }),
  }
  app.get('/v1/status', { schema }, (request, reply) => sendPrepared(request, reply, prepareJson({ databases: store.status() })))
}
