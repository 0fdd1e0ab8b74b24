import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../src/config/config.ts'
import { allSettings } from '../src/config/settings.ts'
import { environmentOf } from '../src/settings/setting.ts'
import { findHelm } from './helpers/helm.ts'
import { loadKubernetesSchemas } from './helpers/kubernetes-schemas.ts'
import { ensurePythonPeers } from './helpers/python-peers.ts'

const root = join(import.meta.dirname, '..')
const chart = join(root, 'charts', 'tickwarden')
const examples = readdirSync(join(chart, 'ci'))
const helm = findHelm()
const run = promisify(execFile)

interface Manifest {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: object
  }
  readonly data?: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another one
  readonly spec: any
}

/** The manifests of an example of values. */
async function render(example: string, ...options: readonly string[]): Promise<readonly Manifest[]> {
  const args = ['template', 'mc', chart, '--namespace', 'games', '--values', join(chart, 'ci', example), ...options]
  const { stdout } = await run(helm ?? '', args, { maxBuffer: 1e8 })
  return parseAllDocuments(stdout).flatMap((document) => (document.toJSON() === null ? [] : [document.toJSON() as Manifest]))
}

const find = (manifests: readonly Manifest[], kind: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind)
  if (found === undefined) throw new Error(`no ${kind}`)
  return found
}
const podOf = (manifests: readonly Manifest[]) =>
  (manifests.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet') as Manifest).spec.template.spec

describe.skipIf(helm === undefined)('the Helm chart', () => {
  it.each(examples)('is accepted by helm lint with %s', async (example) => {
    const { stdout } = await run(helm ?? '', ['lint', '--strict', chart, '--values', join(chart, 'ci', example)])
    expect(stdout).toContain('0 chart(s) failed')
  })

  it('makes what the schemas of Kubernetes accept, for each example', async ({ skip }) => {
    const peers = await ensurePythonPeers()
    if ('reason' in peers) return skip(peers.reason)
    const folder = mkdtempSync(join(tmpdir(), 'chart-'))
    const files = await Promise.all(
      examples.map(async (example) => {
        const manifests = (await render(example)).filter(({ kind }) => !['ServiceMonitor', 'PrometheusRule'].includes(kind))
        const file = join(folder, example)
        writeFileSync(file, manifests.map((manifest) => JSON.stringify(manifest)).join('\n---\n'))
        return file
      }),
    )
    const validate = join(peers.python, '..', 'kubernetes-validate')
    const report = execFileSync(validate, ['--strict', ...files], { encoding: 'utf8', stdio: 'pipe' })
    expect(report.match(/ passed /g)?.length).toBeGreaterThan(30)
    expect(report).not.toMatch(/WARN|ERROR/)
  })

  it('makes what the schemas of the Prometheus Operator accept', async () => {
    const check = await loadKubernetesSchemas()
    const manifests = await render('4-monitoring.yaml')
    for (const kind of ['ServiceMonitor', 'PrometheusRule'] as const) check(kind, find(manifests, kind))
    expect(() => check('ServiceMonitor', { metadata: { name: 'x' }, spec: { selector: {}, endpoints: [{ port: 1 }] } })).toThrow(
      /port/,
    )
  })

  it.each(examples)('fits the Pod Security Standard "restricted", and knows every variable, with %s', async (example) => {
    const pod = podOf(await render(example))
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    const [{ securityContext, env, livenessProbe, readinessProbe, resources }] = pod.containers
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect([livenessProbe, readinessProbe, resources.limits.memory].every(Boolean)).toBe(true)
    const known = new Set(allSettings.flatMap(environmentOf))
    expect((env as readonly { readonly name: string }[]).map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
  })

  it('makes a configuration that the service accepts, with passwords from the Secret', async () => {
    const manifests = await render('2-servers.yaml')
    const folder = mkdtempSync(join(tmpdir(), 'chart-'))
    writeFileSync(join(folder, 'rcon-password'), 'password')
    const file = join(folder, 'tickwarden.yaml')
    const made = manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['tickwarden.yaml'] ?? ''
    writeFileSync(file, made.replace('/secrets', folder))
    const { servers } = loadConfig({ env: {}, file })
    expect(servers.map(({ name }) => name)).toEqual(['survival', 'pocket'])
    const { volumes, containers } = podOf(manifests)
    expect(volumes).toContainEqual({ name: 'secrets', secret: { secretName: 'minecraft', defaultMode: 0o440 } })
    expect(containers[0].volumeMounts).toContainEqual({ name: 'secrets', mountPath: '/secrets', readOnly: true })
    expect(find(manifests, 'Ingress').spec.rules[0].host).toBe('status.example.org')
  })

  it('makes a StatefulSet of replicas with the URL of their state from a Secret', async () => {
    const manifests = await render('3-replicas.yaml')
    const { spec } = find(manifests, 'StatefulSet')
    expect(spec.replicas).toBe(3)
    expect(spec.volumeClaimTemplates).toHaveLength(1)
    expect(spec.template.spec.containers[0].env).toContainEqual({
      name: 'STATE_URL',
      valueFrom: { secretKeyRef: { name: 'redis', key: 'url' } },
    })
    expect(find(manifests, 'PodDisruptionBudget').spec.maxUnavailable).toBe(1)
  })

  it('has our rules and dashboards', async () => {
    const manifests = await render('4-monitoring.yaml')
    const rules = parse(readFileSync(join(root, 'grafana', 'alerts', 'tickwarden.rules.yaml'), 'utf8'))
    expect(find(manifests, 'PrometheusRule').spec).toEqual(rules)
    expect(find(manifests, 'ServiceMonitor').spec.endpoints[0].authorization.credentials.name).toBe('tickwarden-metrics')
    const made = manifests.filter(({ metadata }) => metadata.labels.grafana_dashboard === '1')
    const files = readdirSync(join(root, 'grafana', 'dashboards'))
    expect(made.flatMap(({ data = {} }) => Object.keys(data))).toEqual(files)
    for (const { data = {} } of made)
      for (const [name, text] of Object.entries(data))
        expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(join(root, 'grafana', 'dashboards', name), 'utf8')))
  })

  it('keeps its claim, and the digits of large numbers', async () => {
    const set = (...values: readonly string[]) => render('1-default.yaml', ...values.flatMap((value) => ['--set-json', value]))
    const manifests = await set('env={"OTEL_METRIC_EXPORT_INTERVAL":3600000,"TIMEOUT":1.5}')
    expect(find(manifests, 'PersistentVolumeClaim').metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
    const { env } = podOf(manifests).containers[0]
    expect(env).toContainEqual({ name: 'OTEL_METRIC_EXPORT_INTERVAL', value: '3600000' })
    expect(env).toContainEqual({ name: 'TIMEOUT', value: '1.5' })
  })

  it('starts the pods again for a change that a running service does not read', async () => {
    const hashOf = async (config: object) => {
      const manifests = await render('1-default.yaml', '--set-json', `config=${JSON.stringify(config)}`)
      return find(manifests, 'Deployment').spec.template.metadata.annotations['checksum/config']
    }
    const server = (name: string) => ({ name, address: 'mc.example.org' })
    const [one, two, other, none] = await Promise.all(
      [{ servers: [server('a')] }, { servers: [server('a'), server('b')] }, { servers: [], log: { level: 'debug' } }, {}].map(
        hashOf,
      ),
    )
    expect(two).toBe(one)
    expect(new Set([one, other, none]).size).toBe(3)
  })

  it('may list Services only if it watches them, where it watches them', async () => {
    const all = await render('5-discovery.yaml')
    expect(find(all, 'ClusterRole')).toMatchObject({ rules: [{ apiGroups: [''], resources: ['services'], verbs: ['list'] }] })
    expect(podOf(all)).toMatchObject({ automountServiceAccountToken: true })
    const two = await render('6-everything-else.yaml')
    expect(two.filter(({ kind }) => kind === 'RoleBinding').map(({ metadata }) => metadata.namespace)).toEqual(['games', 'lobby'])
    const none = await render('1-default.yaml')
    expect(none.filter(({ kind }) => kind.includes('Role'))).toEqual([])
    expect(podOf(none)).toMatchObject({ automountServiceAccountToken: false })
  })

  it.each([
    ['replicas=2', /replicas: more than one needs state\.existingSecret/],
    ['replicas=0', /replicas/],
    ['replica=1', /additional properties 'replica' not allowed/],
    ['service.port=high', /service\/port/],
    ['image.digest=latest', /image\/digest/],
    ['env.log_level=debug', /env/],
    ['env.PORT=80', /env/],
    ['fullnameOverride=my.tick', /fullnameOverride/],
    ['persistence.size=1.5.2Gi', /size/],
    ['podDisruptionBudget.maxUnavailable=most', /maxUnavailable/],
    ['discovery.namespaces={games,games}', /namespaces/],
    ['ingress.path=/a b', /path/],
  ])('refuses %s', async (value, message) => {
    await expect(render('1-default.yaml', '--set', value)).rejects.toThrow(message)
  })
})
