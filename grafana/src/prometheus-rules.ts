import { stringify } from 'yaml'
import { annotationsOf } from './alert.ts'
import { alerts, keepFiringFor } from './alerts.ts'
import { recordingRules } from './recording-rules.ts'

const head = `# Alert rules for Prometheus: load this file with rule_files. Made by grafana/src/alerts.ts (npm run dashboards); promtool tests it in
# test/grafana/. An alert about a server has its name as the label server, or the label target for a target of /probe that has no name, and no
# instance: it goes on when another replica reports the server. A probe is a single poll: ServerLagging needs the tick rate between two polls,
# and therefore /metrics. Scrape a server in only one of the two ways, or it is counted and reported twice.
`

/** The rule file for Prometheus. */
export const prometheusRules = (): string =>
  head +
  stringify(
    {
      groups: [
        {
          name: 'tickwarden',
          rules: [
            ...recordingRules.map(({ name, expr }) => ({ record: name, expr })),
            ...alerts.map((alert) => ({
              alert: alert.name,
              expr: alert.expr,
              for: alert.for,
              ...(!alert.resolvesAtOnce && { keep_firing_for: keepFiringFor }),
              labels: { severity: alert.severity },
              annotations: annotationsOf(alert),
            })),
          ],
        },
      ],
    },
    { lineWidth: 0 },
  )
