import { alerts, keepFiringFor } from './alerts.ts'

const plain = (template: string): string =>
  template
    .replaceAll(/\{\{ if gt \$value 0\.0 \}\}(.*?)\{\{ else \}\}.*?\{\{ end \}\}/g, '$1')
    .replaceAll(/\{\{ if \$labels\.instance \}\}.*?\{\{ end \}\}/g, '')
    .replaceAll(/\{\{ if \$labels\.server \}\}(.*?)\{\{ else \}\}.*?\{\{ end \}\}/g, '$1')
    .replaceAll(/\{\{ (?:or )?\$labels\.(server|source|database|script|provider|difference|instance)[^}]*\}\}/g, '_$1_')
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, '_value_')

/** Breaks a paragraph into lines of at most 140 characters. */
const wrap = (paragraph: string): string => paragraph.replaceAll(/(.{1,140})(?:\s+|$)/g, '$1\n').trimEnd()

/** docs/alerts.md: every alert, when it fires and what to do. */
export const alertsPage = (): string => `# Alerts

<!-- Made by grafana/src/alerts.ts: npm run dashboards -->

For Prometheus, load \`grafana/alerts/tickwarden.rules.yaml\` with \`rule_files\`; \`grafana/alertmanager/alertmanager.yaml\` is an example
that sends the alerts to Discord. For Grafana's own alerting, put the files of \`grafana/alerting\` into
\`/etc/grafana/provisioning/alerting\` instead. Use only one of the two, or each alert is sent twice.

One cause raises one alert: an alert does not fire if a more severe alert of the same server explains it. An alert is resolved
${keepFiringFor.replace(/m$/, ' minutes')} after its cause has ended, so that a restart of Tickwarden does not resolve it.

${alerts
  .map(
    ({ name, severity, for: duration, expr, description, action }) => `## ${name}

${wrap(`${plain(description)} Severity: ${severity}, after ${duration}.`)}

${wrap(plain(action))}

\`\`\`promql
${expr}
\`\`\`
`,
  )
  .join('\n')}`
