import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createAuthority } from '../../helpers/certificate-authority.ts'
import { startDiscovering } from '../../helpers/discovering-service.ts'
import { loadKubernetesSchemas } from '../../helpers/kubernetes-schemas.ts'

const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'))
const authority = createAuthority(folder)
const { certFile, keyFile } = authority.sign('api')
copyFileSync(authority.certFile, join(folder, 'ca.crt'))
writeFileSync(join(folder, 'token'), 'first-token\n')
writeFileSync(join(folder, 'namespace'), 'games')

interface Service {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: { readonly type: string; readonly ports: readonly object[] }
}
const java = { name: 'minecraft', protocol: 'TCP', port: 25565, targetPort: 'minecraft' }
const service = (
  name: string,
  { namespace = 'games', annotations, ports = [java] as readonly object[] }: Partial<Service['metadata'] & Service['spec']> = {},
): Service => ({
  metadata: { name, namespace, labels: { app: 'minecraft' }, ...(annotations && { annotations }) },
  spec: { type: 'ClusterIP', ports },
})

const check = await loadKubernetesSchemas()

/** A fake API server: the list of services, with two in a page, checked against the schema that Kubernetes publishes. */
async function startApi(services: () => readonly Service[]) {
  const requests: IncomingMessage[] = []
  const tokens = new Set(['first-token'])
  const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
    requests.push(request)
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://api')
    const reply = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ apiVersion: 'v1', ...body }))
    const failure = (code: number, reason: string) => reply(code, { kind: 'Status', status: 'Failure', code, reason })
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const place = /^\/api\/v1(?:\/namespaces\/([^/]+))?\/services$/.exec(pathname)
    if (!tokens.has(token)) return failure(401, 'Unauthorized')
    if (place === null) return failure(404, 'NotFound')
    const [key, value] = searchParams.get('labelSelector')?.split('=') ?? []
    const all = services().filter(
      ({ metadata }) => (place[1] ?? metadata.namespace) === metadata.namespace && metadata.labels[key ?? ''] === value,
    )
    const start = Number(searchParams.get('continue') ?? 0)
    const end = start + 2
    const metadata = { resourceVersion: '1', ...(end < all.length && { continue: String(end) }) }
    // It may leave out some, or all, of a page.
    const items = all.slice(start, end).filter(({ metadata: { name } }) => name !== 'left-out')
    // The API server leaves these two out of the items of a list; the schema wants them.
    check('ServiceList', { metadata, items: items.map((item) => ({ apiVersion: 'v1', kind: 'Service', ...item })) })
    return reply(200, { kind: 'ServiceList', metadata, items })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, tokens }
}

const yaml = 'servers: [{ name: own, address: "127.0.0.1:1" }]'
const start = (url: string, env: Readonly<Record<string, string>> = {}) =>
  startDiscovering({
    yaml,
    env: {
      DISCOVERY_KUBERNETES: 'app=minecraft',
      DISCOVERY_KUBERNETES_URL: url,
      DISCOVERY_KUBERNETES_ACCOUNT: folder,
      DISCOVERY_KUBERNETES_INTERVAL: '1s',
      ...env,
    },
  })

it('watches the Services of its own namespace, in pages, and follows their changes', async () => {
  let services = ['a', 'b', 'c'].map((name) => service(name))
  const api = await startApi(() => [...services, service('elsewhere', { namespace: 'other' })])
  const discovering = await start(api.url)
  expect(await discovering.names()).toEqual(['own', 'a', 'b', 'c'])
  expect(new URL(api.requests[0]?.url ?? '', api.url).searchParams.get('labelSelector')).toBe('app=minecraft')
  services = ['b', 'c', 'd'].map((name) => service(name))
  await expect.poll(discovering.names).toEqual(['own', 'b', 'c', 'd'])
  expect((await discovering.lists())[1]).toMatchObject({ provider: 'kubernetes', list: 'services', state: 'ok', servers: 3 })
})

it('reads the pages after an empty one, and ends if there is no last one', async () => {
  let services = ['left-out', 'left-out', 'a', 'left-out', 'left-out', 'left-out', 'b'].map((name) => service(name))
  const api = await startApi(() => services)
  const discovering = await start(api.url)
  expect(await discovering.names()).toEqual(['own', 'a', 'b'])
  services = Array.from({ length: 2_001 }, () => service('left-out'))
  await expect.poll(async () => (await discovering.lists())[1]?.problems).toEqual(['the list has more than 1000 pages'])
  expect(await discovering.names()).toEqual(['own', 'a', 'b'])
})

it('takes names, groups, addresses and settings from annotations, and the port of the game from the Service', async () => {
  const bedrock = { name: 'bedrock', protocol: 'UDP', port: 19133 }
  const api = await startApi(() => [
    service('survival', {
      annotations: { 'tickwarden/name': 'Survival', 'tickwarden/group': 'Game', 'tickwarden/hostname': 'play.example.org' },
      ports: [{ name: 'rcon', protocol: 'TCP', port: 25575 }, java],
    }),
    service('pocket', { ports: [bedrock] }),
    service('moved', { annotations: { 'tickwarden/address': 'mc.example.org:25570' } }),
    service('file', { annotations: { 'tickwarden/directory': '/srv' } }),
    service('wrong', { annotations: { 'tickwarden/address': 'no:port:at:all' } }),
  ])
  const discovering = await start(api.url)
  expect(await discovering.names()).toEqual(['own', 'Survival', 'pocket', 'moved'])
  const targets = JSON.parse(await (await discovering.get('/sd')).text()) as {
    readonly targets: readonly string[]
    readonly labels: Readonly<Record<string, string>>
  }[]
  expect(targets.slice(1).map(({ labels }) => [labels.__meta_tickwarden_host, labels.__meta_tickwarden_port])).toEqual([
    ['survival.games.svc', '25565'],
    ['pocket.games.svc', '19133'],
    ['mc.example.org', '25570'],
  ])
  expect(targets[1]?.labels.__meta_tickwarden_group).toBe('Game')
  expect((await discovering.lists())[1]).toMatchObject({ servers: 3, refused: 2 })
})

it('lists several namespaces, or all, with the namespace in the names', async () => {
  const api = await startApi(() => [service('lobby'), service('lobby', { namespace: 'other' }), service('x', { namespace: 'y' })])
  const two = await start(api.url, { DISCOVERY_KUBERNETES_NAMESPACES: 'games,other' })
  expect(await two.names()).toEqual(['own', 'lobby.games', 'lobby.other'])
  const all = await start(api.url, { DISCOVERY_KUBERNETES_NAMESPACES: '*' })
  expect(await all.names()).toEqual(['own', 'lobby.games', 'lobby.other', 'x.y'])
})

it('reads a renewed token, and keeps the servers while the API server refuses', async () => {
  const api = await startApi(() => [service('a')])
  const discovering = await start(api.url)
  expect(await discovering.names()).toEqual(['own', 'a'])
  api.tokens.clear()
  await expect
    .poll(async () => (await discovering.lists())[1])
    .toMatchObject({ state: 'failed', problems: ['the server returned status 401; expected 200'], servers: 1 })
  expect(await discovering.names()).toEqual(['own', 'a'])
  writeFileSync(join(folder, 'token'), 'second-token')
  onTestFinished(() => writeFileSync(join(folder, 'token'), 'first-token'))
  api.tokens.add('second-token')
  await expect.poll(async () => (await discovering.lists())[1]?.state).toBe('ok')
  expect(JSON.stringify([await discovering.lists(), discovering.log])).not.toContain('-token')
})

it('sends no token to a server that the authority of the account has not signed, and names what is missing', async () => {
  const api = await startApi(() => [service('a')])
  const account = mkdtempSync(join(tmpdir(), 'kubernetes-'))
  const discovering = await start(api.url, { DISCOVERY_KUBERNETES_ACCOUNT: account })
  const problems = async () => (await discovering.lists())[1]?.problems
  expect(await problems()).toEqual([
    expect.stringMatching(/^the file (token|ca\.crt) of the service account cannot be read \(ENOENT\)$/),
  ])
  for (const name of ['token', 'namespace']) copyFileSync(join(folder, name), join(account, name))
  copyFileSync(createAuthority(account, 'other').certFile, join(account, 'ca.crt'))
  await expect.poll(problems).toEqual([expect.stringMatching(/^it cannot be fetched \((\w+SIGN\w+|\w+CERT\w*|\w+VERIFY\w+)\)$/)])
  expect(api.requests).toEqual([])
})
