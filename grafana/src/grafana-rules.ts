import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import { annotationsOf } from './alert.ts'
import { alerts, keepFiringFor } from './alerts.ts'

const head = `# The same alert rules for Grafana's own alerting, instead of those for Prometheus: put this file into /etc/grafana/provisioning/alerting.
# Made by grafana/src/alerts.ts (npm run dashboards). The data source must have the uid "prometheus", as in provisioning/datasources.
# Prometheus must still load the recording rules of grafana/alerts, which TickwardenDown and ProbeFailing need for /probe, and TickTimeHigh.
`

/** Grafana passes the values of all queries to a template: A is the query with the number. */
const forGrafana = (template: string): string => template.replaceAll('$value', '$values.A.Value')

/** Stable, so that a rule keeps its identity when others are added or removed; Grafana allows at most 40 characters. */
const uidOf = (name: string): string => `tickwarden-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`

/** Fires for each series of the query, whatever its value, so the threshold is lower than any value. */
const hasValue = {
  refId: 'B',
  datasourceUid: '__expr__',
  model: {
    refId: 'B',
    type: 'math',
    // 1 for a series with any value; is_number excludes NaN and null.
    expression: 'is_number($A)',
  },
}

/** Alert rules in the format of Grafana's file provisioning. */
export const grafanaRules = (): string =>
  head +
  stringify(
    {
      apiVersion: 1,
      groups: [
        {
          orgId: 1,
          name: 'tickwarden',
          folder: 'Tickwarden',
          interval: '30s',
          rules: alerts.map((alert) => ({
            uid: uidOf(alert.name),
            title: alert.name,
            condition: 'B',
            for: alert.for,
            ...(!alert.resolvesAtOnce && { keepFiringFor }),
            // No series is the normal state of an alert; a failing query is not.
            noDataState: 'OK',
            execErrState: 'Error',
            labels: { severity: alert.severity },
            annotations: Object.fromEntries(
              Object.entries(annotationsOf(alert)).map(([name, template]) => [name, forGrafana(template)]),
            ),
            data: [
              {
                refId: 'A',
                datasourceUid: 'prometheus',
                relativeTimeRange: { from: 600, to: 0 },
                model: { refId: 'A', expr: alert.expr, instant: true, range: false },
              },
              hasValue,
            ],
          })),
        },
      ],
    },
    { lineWidth: 0 },
  )
