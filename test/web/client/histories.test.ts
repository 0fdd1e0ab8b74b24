import { expect, it, onTestFinished, vi } from 'vitest'
import { loadHistories, toQueries } from '../../../src/web/client/histories.ts'
import { exampleServer } from '../../helpers/example-server.ts'
import { buildTestApp } from '../../helpers/test-app.ts'

it('requests the history of any 50 servers with URLs that are not too long', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `${index}, ${'サーバー生存'.repeat(5)} %&=`)
  const { get } = await buildTestApp({ scripts: Object.fromEntries(names.map((name) => [name, exampleServer])) })
  const queries = toQueries(names)
  const found: string[] = []
  for (const query of queries) {
    expect(query.length).toBeLessThan(4_096)
    const reply = await get(`/page/cards?servers=${query}`)
    expect(reply.status).toBe(200)
    found.push(...Object.keys(((await reply.json()) as { servers: object }).servers))
  }
  expect(found).toEqual(names)
})

it('makes one query of short names', () => {
  expect(toQueries(['a', 'b,c'])).toEqual(['a%2Cb%252Cc'])
  expect(toQueries([])).toEqual([])
})

it('has the history of those servers that the service sends', async () => {
  onTestFinished(() => void vi.unstubAllGlobals())
  const names = ['a', 'b'].map((letter) => letter.repeat(3_000))
  const stub = (fails: string) =>
    vi.stubGlobal('fetch', async (url: string) =>
      url.includes(fails) ? new Response(null, { status: 503 }) : Response.json({ servers: { [url.slice(-1)]: {} }, peak: null }),
    )
  stub('nothing')
  expect(await loadHistories(names, true)).toEqual({ servers: { a: {}, b: {} }, peak: null })
  stub('bbb')
  expect(await loadHistories(names, true)).toEqual({ servers: { a: {} }, peak: null })
  stub('page')
  expect(await loadHistories(names, true)).toBeUndefined()
})
