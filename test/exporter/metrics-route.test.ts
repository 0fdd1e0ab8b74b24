import type { FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { createHttpHistogram } from '../../exporter/http-histogram.ts'
import { registerMetricsRoute } from '../../exporter/metrics-route.ts'
import { createServiceMetrics } from '../../exporter/service-metrics.ts'
import { createHistogram } from '../../src/histogram.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { status } from '../helpers/metrics-fleet.ts'
import { scriptedFleet, silentLogger } from '../helpers/scripted-fleet.ts'

it('renders snapshots ahead only while something scrapes', async () => {
  const clock = manualClock()
  const fleet = scriptedFleet({ only: { status } }, clock)
  const app = createHttpApp({ logger: silentLogger, corsOrigin: '*' }) as unknown as FastifyInstance
  onTestFinished(async () => {
    await app.close()
    fleet.close()
  })
  let rendered = 0
  const fleetText = { prepare: () => void rendered++, bytes: () => Buffer.alloc(0) }
  const own = { service: createServiceMetrics(5_000), histogram: createHttpHistogram(), nameLookups: createHistogram() }
  registerMetricsRoute(app, { fleet, clock, fleetText, ...own })
  const renderedByPoll = async () => {
    rendered = 0
    await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
    return rendered
  }
  await app.ready()
  expect(await renderedByPoll()).toBe(0)
  expect((await app.inject('/metrics')).statusCode).toBe(200)
  expect(await renderedByPoll()).toBeGreaterThan(0)
  await clock.advance(119_000)
  expect(await renderedByPoll()).toBeGreaterThan(0)
  await clock.advance(2_000)
  expect(await renderedByPoll()).toBe(0)
})
