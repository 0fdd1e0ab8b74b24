import { crc32 } from 'node:zlib'
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import { alertsPage } from './alerts-page.ts'
import { fleet } from './fleet-dashboard.ts'
import { grafanaRules } from './grafana-rules.ts'
import { internals } from './internals-dashboard.ts'
import { prometheusRules } from './prometheus-rules.ts'
import { server } from './server-dashboard.ts'

/**
 * Panel ids for links (`?viewPanel=`), derived from the panel itself, so that adding or moving a panel does not change the ids of
 * the others.
 */
function withIds(board: Dashboard): Dashboard {
  const idOf = ({ type, title }: { type: string; title?: string }) => 1 + (crc32(`${type} ${title}`) % 999_999)
  const panels = board.panels?.map((panel) => ({
    ...panel,
    id: idOf(panel),
    // A collapsed row holds its panels.
    ...('panels' in panel && { panels: panel.panels.map((inner) => ({ ...inner, id: idOf(inner) })) }),
  }))
  return { ...board, ...(panels && { panels }) }
}

const json = (board: Dashboard): string => `${JSON.stringify(withIds(board), null, 2)}\n`

/** Every generated file, by its path relative to the root of the project. */
export const generated = (): Readonly<Record<string, string>> => ({
  'grafana/dashboards/fleet.json': json(fleet().build()),
  'grafana/dashboards/internals.json': json(internals().build()),
  'grafana/dashboards/server.json': json(server().build()),
  'grafana/alerts/tickwarden.rules.yaml': prometheusRules(),
  'grafana/alerting/rules.yaml': grafanaRules(),
  'docs/alerts.md': alertsPage(),
})
