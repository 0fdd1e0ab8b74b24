import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { datasource } from './panels/panel.ts'

export interface DashboardOptions {
  readonly uid: string
  readonly title: string
  readonly description: string
  /** Whether several servers can be selected. */
  readonly manyServers: boolean
}

/** The common parts of both dashboards: data source and server variables, time range, refresh. */
export function dashboard({ uid, title, description, manyServers }: DashboardOptions): DashboardBuilder {
  const server = new QueryVariableBuilder('server')
    .label('Server')
    .description('Configured name of the game server')
    .datasource(datasource)
    .query({ qryType: 1, query: 'label_values(minecraft_up, server)', refId: 'server' })
    .definition('label_values(minecraft_up, server)')
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(manyServers)
    .includeAll(manyServers)
  if (manyServers) server.allValue('.*').current({ text: 'All', value: '$__all', selected: true })
  return new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['tickwarden', 'minecraft'])
    .time({ from: 'now-3h', to: 'now' })
    .refresh('15s')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .editable()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(server)
}

/** An annotation at each time for which the expression has a value. */
export const annotation = (name: string, expr: string, colour: string, text: string): AnnotationQueryBuilder =>
  new AnnotationQueryBuilder()
    .name(name)
    .datasource(datasource)
    .enable(true)
    .iconColor(colour)
    .expr(expr)
    .step('15s')
    .titleFormat(name)
    .textFormat(text)

/** Links to all other dashboards of Tickwarden, with the same data source, servers and time range. */
export const linkToOthers = (title: string): DashboardLinkBuilder =>
  new DashboardLinkBuilder(title).type(DashboardLinkType.Dashboards).tags(['tickwarden']).keepTime(true).includeVars(true)
