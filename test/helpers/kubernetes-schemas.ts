import { createRequire } from 'node:module'
import { ensure } from '../tools/ensure.mjs'

const modules = {
  Service: 'kubernetes-models/v1/Service',
  ServiceList: 'kubernetes-models/v1/ServiceList',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
  PrometheusRule: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
} as const

type Model = new (value: object) => { validate(): void }

/**
 * Loads the published schemas of Kubernetes and of the Prometheus Operator.
 * @returns a function that throws an Error that names what is wrong
 */
export async function loadKubernetesSchemas(): Promise<(kind: keyof typeof modules, value: object) => void> {
  await ensure('test/tools')
  const require = createRequire(new URL('../tools/package.json', import.meta.url))
  return (kind, value) => {
    const { [kind]: Model } = require(modules[kind]) as { readonly [kind: string]: Model }
    if (Model === undefined) throw new Error(`no schema of ${kind}`)
    new Model(value).validate()
  }
}
