import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { expect, it } from 'vitest'
import { comeback, type DataService, type Page, snapshot, startDataService } from '../helpers/data-service.ts'
import { fastClock } from '../helpers/fast-clock.ts'
import { until } from '../helpers/until.ts'

/** Every entry contains its version, and each version has a different number of entries. */
const version = (number: number) =>
  snapshot(
    Array.from({ length: 1000 + (number % 100) }, (_, id) =>
      comeback({ title: `v${number}`, artist: id % 3 === 0 ? 'third' : 'other' }),
    ),
  )

const paths = [
  '/v1/kcomebacks/filter/getall?limit=50&offset=950',
  '/v1/kcomebacks/filter/artist?artist=THIRD&limit=50&offset=300',
  '/v1/kcomebacks/filter/type?type=album&limit=50&offset=975',
  '/v1/kcomebacks/filter/first',
  '/v1/kcomebacks/filter/last',
]

/** Writes one version after the other, each when the service has read the one before. */
async function replaceForever(
  service: DataService,
  isServed: (version: number) => boolean,
  done: () => boolean,
): Promise<number> {
  const file = join(service.folder, 'kcomebacks.json')
  let written = 0
  while (!done()) {
    written++
    const text = version(written)
    if (written % 5 === 0) await service.write('kcomebacks', text.slice(0, text.length / 2))
    else if (written % 5 === 1) await service.write('kcomebacks', text)
    else {
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    }
    const isBroken = written % 5 === 0
    const isRead = async () =>
      isBroken ? (await (await service.get('/v1/status')).text()).includes('"failed"') : isServed(written)
    await until(async () => done() || (await isRead()))
  }
  return written
}

it('answers every request while the file is replaced, sometimes by a broken one, and never from two snapshots', async () => {
  // The file is looked at every 100 ms.
  const service = await startDataService({ kcomebacks: version(0) }, { clock: fastClock(Date.now(), 20) })
  const agent = new Agent({ connections: 8 })
  const seen = new Set<string>()
  const wrong: string[] = []
  let requested = 0
  const exchange = async (path: string) => {
    const { statusCode, headers, body } = await request(service.url + path, { dispatcher: agent })
    const text = await body.text()
    requested++
    if (statusCode !== 200) return wrong.push(`${path}: ${statusCode} ${text}`)
    const { results, count } = JSON.parse(text) as Page
    const [title = '', ...others] = new Set(results.map((entry) => entry.title as string))
    seen.add(title)
    const size = 1000 + (Number(title.slice(1)) % 100)
    const total = path.includes('THIRD') ? Math.ceil(size / 3) : path.includes('limit') ? size : 1
    const whole = count === results.length && headers['x-total-count'] === String(total)
    if (others.length > 0 || !whole) wrong.push(`${path}: ${title} ${others.join(' ')} ${headers['x-total-count']} of ${total}`)
    return undefined
  }
  // Enough requests and snapshots, however fast the machine is.
  const done = () => requested >= 5000 && seen.size >= 12
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let turn = client; !done(); turn++) await exchange(paths[turn % paths.length]!)
  })
  const [written] = await Promise.all([replaceForever(service, (number) => seen.has(`v${number}`), done), ...clients])
  expect(wrong).toEqual([])
  expect(written).toBeGreaterThanOrEqual(12)
  await agent.close()
  await service.close()
})
