import { join } from 'node:path'
import { duration, type Kind, list, text, url } from '../../settings/kinds/index.ts'
import { readFileUpTo } from '../../util/files.ts'
import { HttpClient } from '../../util/http-client.ts'
import { isRecord } from '../../util/is-record.ts'
import { fetchJson, toTarget } from '../fetch-json.ts'
import { createPolledList, providerOf } from '../polled-list.ts'
import { DiscoveryError, defineProvider } from '../provider.ts'
import { createTargetGroupReader, parseList, settingPrefix } from '../target-groups.ts'

/** Timeout of one page of the list, milliseconds. */
const timeoutMs = 10_000
/** Of all pages together. */
const maxBytes = 32 * 1024 * 1024
/** Services in one page, as kubectl requests them. */
const pageSize = 500
/** Several times what a list of the most servers takes. A page may be empty although others follow. */
const maxPages = 1_000
/** Certificates and tokens of service accounts have a few kilobytes. */
const maxAccountBytes = 1024 * 1024
/** `tickwarden/rcon.address` is the setting `rcon.address` of the server. */
const annotationPrefix = 'tickwarden/'

const selector: Kind<string> = {
  example: 'app.kubernetes.io/name=minecraft',
  expected: 'a label selector, such as app=minecraft or "app in (survival, lobby)"',
  parse: (given) => (/^[\w./!=(), -]+$/.test(given.trim()) ? given.trim() : undefined),
}
const namespace: Kind<string> = {
  example: 'games',
  expected: 'the name of a namespace, or * for all',
  parse: (given) => (/^(\*|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)$/.test(given) ? given : undefined),
}

/** The port of the game: by its name or number, else the only one; undefined if it cannot be known. */
function gamePort(values: unknown) {
  const ports = (Array.isArray(values) ? values : []).filter(isRecord).flatMap(({ name, port, protocol }) => {
    if (typeof port !== 'number') return []
    return [{ name: typeof name === 'string' ? name : '', port, protocol: protocol === 'UDP' ? 'UDP' : 'TCP' }]
  })
  const isGame = ({ name, port, protocol }: (typeof ports)[number]) =>
    /^(minecraft|bedrock|game)\b/.test(name) || port === (protocol === 'UDP' ? 19132 : 25565)
  return ports.find(isGame) ?? (ports.length === 1 ? ports[0] : undefined)
}

/** A target group with one target, from a Service of the API, version v1; without a name it is refused as a target. */
function toGroup(service: unknown, isNamespaceInName: boolean) {
  const { metadata, spec }: Record<string, unknown> = isRecord(service) ? service : {}
  if (!isRecord(metadata) || typeof metadata.name !== 'string' || typeof metadata.namespace !== 'string')
    return { targets: [''], labels: {} }
  const { name, namespace, annotations } = metadata
  const settings = Object.entries(isRecord(annotations) ? annotations : {}).flatMap(([key, value]) =>
    key.startsWith(annotationPrefix) && typeof value === 'string' ? [[key.slice(annotationPrefix.length), value] as const] : [],
  )
  const own = Object.fromEntries(settings.filter(([key]) => key === 'name' || key === 'group' || key === 'address'))
  const others = settings.filter(([key]) => !(key in own))
  const port = gamePort(isRecord(spec) ? spec.ports : undefined)
  const host = `${name}.${namespace}.svc`
  const address = port === undefined ? host : `${port.protocol === 'UDP' ? 'bedrock://' : ''}${host}:${port.port}`
  return {
    targets: [own.address ?? address],
    labels: {
      name: own.name ?? (isNamespaceInName ? `${name}.${namespace}` : name),
      ...(own.group !== undefined && { group: own.group }),
      ...Object.fromEntries(others.map(([key, value]) => [settingPrefix + key.replaceAll('.', '_'), value])),
    },
  }
}

/** Reads a file of the service account again for each list, because Kubernetes renews tokens. */
async function readAccountFile(folder: string, name: string): Promise<string> {
  const path = join(folder, name)
  try {
    return (await readFileUpTo(path, maxAccountBytes)).toString('utf8').trim()
  } catch (error) {
    const { code = (error as Error).name } = error as NodeJS.ErrnoException
    throw new DiscoveryError(`the file ${name} of the service account cannot be read (${code})`)
  }
}

interface ApiServer {
  readonly url: string
  readonly account: string
  readonly labels: string
}

/** All services of a namespace with the labels, in pages. '' is the own namespace, which the service account knows. */
async function listServices(
  { url, account, labels }: ApiServer,
  given: string,
  measure: <T>(read: () => T) => T,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const [token, ca] = await Promise.all([readAccountFile(account, 'token'), readAccountFile(account, 'ca.crt')])
  const name = given === '' ? await readAccountFile(account, 'namespace') : given
  const path = name === '*' ? '/api/v1/services' : `/api/v1/namespaces/${encodeURIComponent(name)}/services`
  const client = new HttpClient({ timeoutMs, maxBytes, ca })
  const close = () => void client.close()
  signal.addEventListener('abort', close)
  const services: unknown[] = []
  try {
    let [next, size, pages]: [string | undefined, number, number] = ['', 0, 0]
    while (next !== undefined) {
      if (++pages > maxPages) throw new DiscoveryError(`the list has more than ${maxPages} pages`)
      const query = new URLSearchParams({ labelSelector: labels, limit: String(pageSize), ...(next && { continue: next }) })
      const target = toTarget(`${url.replace(/\/$/, '')}${path}?${query}`, token)
      const body = await fetchJson(target, { client, timeoutMs, headers: {} })
      size += body.length
      if (size > maxBytes) throw new DiscoveryError(`the list has more than ${maxBytes} bytes`)
      const page = measure(() => parseList(body))
      if (!isRecord(page) || !Array.isArray(page.items)) throw new DiscoveryError('the reply is not a list of services')
      // Not by a spread, whose arguments a page of many thousands would exceed.
      for (const service of page.items) services.push(service)
      const more = isRecord(page.metadata) ? page.metadata.continue : undefined
      next = typeof more === 'string' && more !== '' ? more : undefined
    }
    return services
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

export const kubernetes = defineProvider({
  name: 'kubernetes',
  title: 'Services of Kubernetes, by label',
  meaning: 'Each Service is a server; see below for the annotations.',
  settings: {
    discoveryKubernetes: {
      env: 'DISCOVERY_KUBERNETES',
      file: 'discovery.kubernetes',
      kind: selector,
      meaning: 'label selector of the Services of Kubernetes that are watched',
    },
    discoveryKubernetesNamespaces: {
      env: 'DISCOVERY_KUBERNETES_NAMESPACES',
      file: 'discovery.kubernetesNamespaces',
      kind: list(namespace),
      otherwise: 'the own namespace',
      meaning: 'namespaces of these Services; * for all',
    },
    discoveryKubernetesInterval: {
      env: 'DISCOVERY_KUBERNETES_INTERVAL',
      file: 'discovery.kubernetesInterval',
      kind: duration('1s', '1d'),
      default: '30s',
      meaning: 'time between two readings of these Services',
    },
    discoveryKubernetesUrl: {
      env: 'DISCOVERY_KUBERNETES_URL',
      file: 'discovery.kubernetesUrl',
      kind: url('https:', 'http:'),
      default: 'https://kubernetes.default.svc',
      meaning: 'URL of the API server of Kubernetes',
    },
    discoveryKubernetesAccount: {
      env: 'DISCOVERY_KUBERNETES_ACCOUNT',
      file: 'discovery.kubernetesAccount',
      kind: text,
      default: '/var/run/secrets/kubernetes.io/serviceaccount',
      meaning: 'folder with token, ca.crt and namespace of the service account',
    },
  },
  start(values, context) {
    const { discoveryKubernetes: labels = '', discoveryKubernetesInterval: interval } = values
    const api = { url: values.discoveryKubernetesUrl, account: values.discoveryKubernetesAccount, labels }
    const namespaces = [...new Set(values.discoveryKubernetesNamespaces ?? [''])]
    const isNamespaceInName = namespaces.length > 1 || namespaces[0] === '*'
    const closing = new AbortController()
    const lists = namespaces.map((namespace) => {
      const name = ['services', namespace === '*' ? 'all namespaces' : namespace].filter((part) => part !== '').join(' in ')
      const place = `Kubernetes, ${name}`
      const parse = createTargetGroupReader(context)
      return createPolledList({
        ...context,
        ...{ name, place, interval, signal: closing.signal },
        async read() {
          const services = await listServices(api, namespace, (read) => context.measure(place, read), closing.signal)
          return parse(services.map((service) => toGroup(service, isNamespaceInName)))
        },
      })
    })
    return { ...providerOf(lists), close: () => closing.abort() }
  },
})
