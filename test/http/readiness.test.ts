import { describe, expect, it, onTestFinished } from 'vitest'
import type { ListStatus } from '../../src/discovery/status.ts'
import { createReadiness } from '../../src/http/readiness.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

/** A service whose servers, lists and databases are controlled by the test. */
function start(servers: readonly string[], lists: Readonly<Record<string, ListStatus['state']>> = {}) {
  const fleet = fakeFleet(Object.fromEntries(servers.map((name) => [name, { status: {} }])), manualClock())
  onTestFinished(() => fleet.close())
  const states = { ...lists }
  const loading = new Set<string>()
  const status = () => Object.entries(states).map(([name, state]) => ({ provider: 'file_sd', name, state, refused: [] }))
  const waitingFor = createReadiness({ fleet, discovery: { status }, loadingDatabases: () => [...loading] })
  const [template] = fleet.servers
  const replaceServers = (...names: readonly string[]) => fleet.update(names.map((name) => ({ ...template!, name })))
  return { fleet, states, loading, waitingFor, replaceServers }
}

describe('readiness', () => {
  it('waits for the first poll of every server', async () => {
    const { fleet, waitingFor } = start(['a', 'b'])
    expect(waitingFor()).toEqual(['the first poll of "a"', 'the first poll of "b"'])
    await fleet.get('a')!.poll()
    expect(waitingFor()).toEqual(['the first poll of "b"'])
    await fleet.get('b')!.poll()
    expect(waitingFor()).toEqual([])
  })

  it('waits for the snapshots', () => {
    const { loading, waitingFor } = start([])
    loading.add('projects')
    expect(waitingFor()).toEqual(['the snapshot of projects'])
    loading.clear()
    expect(waitingFor()).toEqual([])
  })

  it('waits for every list, then for the servers that the lists contain', async () => {
    const { fleet, states, waitingFor, replaceServers } = start(['a'], { one: 'pending', two: 'pending' })
    await fleet.get('a')!.poll()
    expect(waitingFor()).toEqual(['the servers of file_sd (one)', 'the servers of file_sd (two)'])
    states.one = 'ok'
    replaceServers('a', 'b')
    expect(waitingFor()).toEqual(['the servers of file_sd (two)', 'the first poll of "b"'])
    states.two = 'ok'
    replaceServers('a', 'b', 'c')
    expect(waitingFor()).toEqual(['the first poll of "b"', 'the first poll of "c"'])
  })

  it('does not wait for a list that failed', () => {
    const { states, waitingFor } = start([], { one: 'pending' })
    states.one = 'failed'
    expect(waitingFor()).toEqual([])
  })

  it('does not wait for servers that are added later, nor for a list that is read again', async () => {
    const { fleet, states, waitingFor, replaceServers } = start(['a'], { one: 'ok' })
    replaceServers('a', 'b')
    expect(waitingFor()).toEqual(['the first poll of "a"'])
    await fleet.get('a')!.poll()
    expect(waitingFor()).toEqual([])
    states.one = 'failed'
    expect(waitingFor()).toEqual([])
  })

  it('does not wait for a server that is removed', () => {
    const { waitingFor, replaceServers } = start(['a', 'b'])
    replaceServers('b')
    expect(waitingFor()).toEqual(['the first poll of "b"'])
  })
})
