import {
  AnnotationQueryBuilder,
  CustomVariableBuilder,
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
}

/** The common parts of all dashboards: data source, time range, refresh. */
export const dashboard = ({ uid, title, description }: DashboardOptions): DashboardBuilder =>
  new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['tickwarden', 'minecraft'])
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .editable()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))

/** A variable with the values of a label. With all selected it is `.*`, which a thousand servers do not make longer. */
function labelVariable(name: string, label: string, description: string, series: string): QueryVariableBuilder {
  const query = `label_values(${series}, ${name})`
  return new QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource(datasource)
    .query({ qryType: 1, query, refId: name })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
}

const all = { text: 'All', value: '$__all', selected: true }
const selectMany = (variable: QueryVariableBuilder) => variable.multi(true).includeAll(true).allValue('.*').current(all)

/** The group of the servers to select from, then the servers; those that are only probed have no group. */
export function withServers(board: DashboardBuilder, { many }: { readonly many: boolean }): DashboardBuilder {
  const server = labelVariable(
    'server',
    'Server',
    'Configured name of the game server',
    '{__name__=~"minecraft_up|minecraft_server_info",group=~"$group"}',
  )
  return board
    .withVariable(selectMany(labelVariable('group', 'Group', 'Configured group of the servers', 'minecraft_server_info')))
    .withVariable(many ? selectMany(server) : server)
}

/** How many servers the panels with lines show. */
export const withTop = (board: DashboardBuilder): DashboardBuilder =>
  board.withVariable(
    new CustomVariableBuilder('top')
      .label('Lines')
      .description('Maximum number of servers in a panel with lines')
      .values('10,25,50,100')
      .current({ text: '10', value: '10', selected: true }),
  )

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
