import { stringify } from 'yaml'
import { alerts, keepFiringFor } from './alerts.ts'

const head = `# Alert rules for Prometheus: load this file with rule_files. Made by grafana/src/alerts.ts (npm run dashboards); promtool tests it in
# test/grafana/. A server is identified by the label server (/metrics, and /probe with the relabelling in docs/prometheus-grafana.md) or else by
# instance (/probe of any other address). A probe is a single poll: ServerLagging needs the tick rate between two polls, and therefore /metrics.
# Scrape a server in only one of the two ways, or it is counted and reported twice.
`

/** A series that shows the dashboards whether the rules are loaded: without it no alert can fire. */
export const rulesLoaded = 'tickwarden:alert_rules:loaded'

/** The rule file for Prometheus. */
export const prometheusRules = (): string =>
  head +
  stringify(
    {
      groups: [
        {
          name: 'tickwarden',
          rules: [
            { record: rulesLoaded, expr: 'vector(1)' },
            ...alerts.map(({ name, severity, expr, for: duration, resolvesAtOnce, summary, description, action }) => ({
              alert: name,
              expr,
              for: duration,
              ...(!resolvesAtOnce && { keep_firing_for: keepFiringFor }),
              labels: { severity },
              annotations: { summary, description, action },
            })),
          ],
        },
      ],
    },
    { lineWidth: 0 },
  )
