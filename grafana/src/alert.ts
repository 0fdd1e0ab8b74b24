import { config } from './config.ts'

/** One alert, from which the rules for Prometheus and those for Grafana are made. */
export interface Alert {
  readonly name: string
  readonly severity: 'critical' | 'warning' | 'info'
  /** Returns a series for each firing instance. */
  readonly expr: string
  /** How long the expression must be true, as a Prometheus duration. */
  readonly for: string
  /** Set for the alert that fires without Tickwarden; the others keep firing for `keepFiringFor`. */
  readonly resolvesAtOnce?: true
  /** Path of the dashboard that shows more, a Prometheus template like the texts. */
  readonly dashboard: string

  readonly summary: string
  readonly description: string
  readonly action: string
}

/** The dashboard of the server of an alert; a target of /probe has no label for it. */
export const serverDashboard = '/d/tickwarden-server{{ if $labels.server }}?var-server={{ $labels.server | urlquery }}{{ end }}'

/** The annotations of an alert: its texts, and links to its section of docs/alerts.md and to a dashboard. */
export const annotationsOf = ({ name, summary, description, action, dashboard }: Alert) => ({
  summary,
  description,
  action,
  runbook_url: `${config.links.runbooks}#${name.toLowerCase()}`,
  dashboard_url: config.links.grafana + dashboard,
})
