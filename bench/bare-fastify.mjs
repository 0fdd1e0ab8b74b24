import Fastify from 'fastify'
import { collectDefaultMetrics, register } from 'prom-client'

/** The least that a service with metrics consists of: Fastify with prom-client. It logs its address. */
collectDefaultMetrics()
const app = Fastify({ logger: true })
app.get('/healthz', () => ({ status: 'ok' }))
app.get('/metrics', async (_, reply) => reply.type(register.contentType).send(await register.metrics()))
await app.listen({ port: 0 })
