import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import { alerts } from './alerts.ts'

const head = `# The same alert rules for Grafana's own alerting, in place of those for Prometheus: put this file into /etc/grafana/provisioning/alerting.
# Made by grafana/src/alerts.ts (npm run dashboards). The data source must have the uid "prometheus", as in provisioning/datasources.
`

/** Grafana hands a template the values of all its queries: A is the one with the number. */
const forGrafana = (template: string): string => template.replaceAll('$value', '$values.A.Value')

/** Stable, so that a rule stays the same one when others come and go; Grafana allows at most 40 characters. */
const uidOf = (name: string): string => `tickwarden-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`

/** Fires for each series of the query: which value it has does not matter, so the threshold is one that each exceeds. */
const hasValue = {
  refId: 'B',
  datasourceUid: '__expr__',
  model: {
    refId: 'B',
    type: 'math',
    // A series with a value is 1, whatever the value; is_number tells NaN and null apart from it.
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
          rules: alerts.map(({ name, severity, expr, for: duration, summary, description, action }) => ({
            uid: uidOf(name),
            title: name,
            condition: 'B',
            for: duration,
            // No series is the normal state of an alert; an error of the query is not.
            noDataState: 'OK',
            execErrState: 'Error',
            labels: { severity },
            annotations: {
              summary: forGrafana(summary),
              description: forGrafana(description),
              action: forGrafana(action),
            },
            data: [
              {
                refId: 'A',
                datasourceUid: 'prometheus',
                relativeTimeRange: { from: 600, to: 0 },
                model: { refId: 'A', expr, instant: true, range: false },
              },
              hasValue,
            ],
          })),
        },
      ],
    },
    { lineWidth: 0 },
  )
