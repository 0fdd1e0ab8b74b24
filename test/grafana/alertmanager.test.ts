import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { alerts } from '../../grafana/src/alerts.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort, runTool } from '../helpers/run-tool.ts'

const example = join(import.meta.dirname, '..', '..', 'grafana', 'alertmanager', 'alertmanager.yaml')

type Labels = Readonly<Record<string, string>>

/** The alerts that a real Alertmanager with the example configuration suppresses, of those that fire. */
async function suppressedOf(firing: readonly Labels[]): Promise<readonly Labels[]> {
  const folder = mkdtempSync(join(tmpdir(), 'alertmanager-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  await using _ = await runTool(
    'prometheus-alertmanager',
    [
      `--config.file=${example}`,
      `--storage.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    port,
  )
  const url = `http://127.0.0.1:${port}/api/v2/alerts`
  const posted = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(firing.map((labels) => ({ labels }))),
  })
  expect(posted.status).toBe(200)
  const read = async () =>
    (await (await fetch(url)).json()) as { readonly labels: Labels; readonly status: { readonly state: string } }[]
  await expect.poll(async () => (await read()).filter(({ status }) => status.state !== 'unprocessed').length).toBe(firing.length)
  return (await read()).filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels)
}

const alert = (alertname: string, labels: Labels = {}): Labels => ({
  alertname,
  job: 'tickwarden',
  instance: 'a:8080',
  ...labels,
})
const sorted = (labels: readonly Labels[]) => labels.map((entries) => JSON.stringify(Object.entries(entries).sort())).sort()

describe.skipIf(!hasTool('prometheus-alertmanager'))('the Alertmanager example', () => {
  it('suppresses every other alert of a Tickwarden that is down, and none of another job', async () => {
    const others = alerts.map(({ name }) => name).filter((name) => name !== 'TickwardenDown')
    const suppressed = others.map((name) => alert(name, { server: 'survival' }))
    const shown = [
      { alertname: 'TickwardenDown', job: 'tickwarden' },
      alert('ServerDown', { server: 'lobby', job: 'other' }),
      alert('DiskFull'),
    ]
    expect(sorted(await suppressedOf([...suppressed, ...shown]))).toEqual(sorted(suppressed))
  })

  it('suppresses what a replica that is down said of itself, and nothing about servers', async () => {
    const suppressed = [alert('SharedStateUnavailable'), alert('DiscoveryFailing', { provider: 'file_sd' })]
    const shown = [
      alert('ReplicaDown'),
      alert('SharedStateUnavailable', { instance: 'b:8080' }),
      { alertname: 'ServerDown', job: 'tickwarden', server: 'lobby' },
    ]
    expect(sorted(await suppressedOf([...suppressed, ...shown]))).toEqual(sorted(suppressed))
  })

  it('suppresses nothing of others where Tickwarden is missing among the targets', async () => {
    expect(await suppressedOf([{ alertname: 'TickwardenDown' }, { alertname: 'Watchdog' }])).toEqual([])
  })

  it('suppresses what a worse alert of the same server explains', async () => {
    const suppressed = [
      alert('SourceFailing', { server: 'hung', source: 'rcon' }),
      alert('ServerLagging', { server: 'hung' }),
      alert('ServerHung', { server: 'down' }),
    ]
    const shown = [
      alert('ServerHung', { server: 'hung' }),
      alert('ServerDown', { server: 'down' }),
      alert('ServerLagging', { server: 'other' }),
    ]
    expect(sorted(await suppressedOf([...suppressed, ...shown]))).toEqual(sorted(suppressed))
  })
})
