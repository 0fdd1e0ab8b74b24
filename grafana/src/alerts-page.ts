import { alerts, keepFiringFor } from './alerts.ts'

const plain = (template: string): string =>
  template
    .replaceAll(/\{\{ if gt \$value 0\.0 \}\}(.*?)\{\{ else \}\}.*?\{\{ end \}\}/g, '$1')
    .replaceAll(/\{\{ if \$labels\.job \}\}.*?\{\{ end \}\}/g, '')
    .replaceAll(/\{\{ if \$labels\.server \}\}(.*?)\{\{ else \}\}.*?\{\{ end \}\}/g, '$1')
    .replaceAll(/\{\{ (?:or )?\$labels\.(\w+)[^}]*\}\}/g, '_$1_')
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, '_value_')

const resolvedAtOnce = alerts
  .filter(({ resolvesAtOnce }) => resolvesAtOnce)
  .map(({ name }) => name)
  .join(', ')

/** Breaks a paragraph into lines of at most 140 characters. */
const wrap = (paragraph: string): string => paragraph.replaceAll(/(.{1,140})(?:\s+|$)/g, '$1\n').trimEnd()

/** docs/alerts.md: every alert, when it fires and what to do. */
export const alertsPage = (): string => `# Alerts

<!-- Generated from grafana/src/alerts.ts: npm run dashboards -->

For Prometheus, load \`grafana/alerts/tickwarden.rules.yaml\` with \`rule_files\`; \`grafana/alertmanager/alertmanager.yaml\` is an example
that sends the alerts to Discord. For Grafana's own alerting, put the files of \`grafana/alerting\` into
\`/etc/grafana/provisioning/alerting\` instead. Use only one of the two, or each alert is sent twice.

One cause raises one alert: an alert does not fire if a more severe alert of the same server explains it. Alerts about a server have no label
\`instance\`, so that with replicas an alert continues when another replica takes over the server.

An alert is resolved ${keepFiringFor.replace(/m$/, ' minutes')} after its cause has ended, so that a restart of Tickwarden does not resolve it. Those about failed scrapes are
resolved at once: ${resolvedAtOnce}.

Instances that are not replicas of each other need separate jobs in Prometheus. With several such jobs, TickwardenDown notices new pods that
never become ready only in the job that \`grafana/config.yaml\` names.

Names, thresholds and links come from \`grafana/config.yaml\`; after a change, \`npm run dashboards\` writes the files again. An availability
objective there adds alerts for servers that are down too often.

## Messages from Grafana

\`contact-points.yaml\` is a contact point for Discord. Alerts reach it by a notification policy. Add one under Alerting > Notification
policies, with the matcher \`grafana_folder = Tickwarden\` and the contact point \`tickwarden\`. Do not provision policies from a file unless
it contains all of them, because it replaces every policy of the organisation. In such a file:

\`\`\`text
routes:
  - receiver: tickwarden
    object_matchers: [[grafana_folder, "=", Tickwarden]]
    group_by: [alertname, job, server, target]
    group_wait: 30s
    group_interval: 5m
    repeat_interval: 12h
\`\`\`

${alerts
  .map(
    ({ name, severity, for: duration, expr, description, action }) => `## ${name}

${wrap(`${plain(description)} Severity: ${severity}, ${duration === '0m' ? 'at once' : `after ${duration}`}.`)}

${wrap(plain(action))}

\`\`\`promql
${expr}
\`\`\`
`,
  )
  .join('\n')}`
