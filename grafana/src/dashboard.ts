import {
  AnnotationQueryBuilder,
  CustomVariableBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { datasource } from './panels/panel.ts'

type PanelBuilder = Parameters<DashboardBuilder['withPanel']>[0]
type VariableBuilder = Parameters<DashboardBuilder['withVariable']>[0]

interface DashboardOptions {
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly variables?: readonly VariableBuilder[]
  readonly annotations?: readonly AnnotationQueryBuilder[]
  /** Panels and rows in their order. */
  readonly panels: readonly (PanelBuilder | RowBuilder)[]
}

/** A dashboard, with links to the others for the same data source, servers and time range. */
export function dashboard(options: DashboardOptions): DashboardBuilder {
  const board = new DashboardBuilder(options.title)
    .uid(options.uid)
    .description(options.description)
    .tags(['tickwarden', 'minecraft'])
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .editable()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .link(
      new DashboardLinkBuilder('Other dashboards')
        .type(DashboardLinkType.Dashboards)
        .tags(['tickwarden'])
        .keepTime(true)
        .includeVars(true),
    )
  for (const variable of options.variables ?? []) board.withVariable(variable)
  for (const annotation of options.annotations ?? []) board.annotation(annotation)
  for (const panel of options.panels) panel instanceof RowBuilder ? board.withRow(panel) : board.withPanel(panel)
  return board
}

/** A title above the panels that follow; with panels of its own it is collapsed. */
export function row(title: string, panels: readonly PanelBuilder[] = []): RowBuilder {
  const builder = new RowBuilder(title)
  if (panels.length > 0) builder.collapsed(true)
  for (const panel of panels) builder.withPanel(panel)
  return builder
}

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

/**
 * The selected values of a variable, as a regular expression for a selector. In backticks, and in Grafana's format `regex`: between
 * quotation marks the data source would insert an apostrophe as `\\'`, which matches no name, and a quotation mark as it is. No format
 * is right for every name: there is no data for one with a backtick.
 */
export const selected = (variable: 'group' | 'server', alternative = ''): string => `\`\${${variable}:regex}${alternative}\``

const all = { text: 'All', value: '$__all', selected: true }
const selectMany = (variable: QueryVariableBuilder) => variable.multi(true).includeAll(true).allValue('.*').current(all)

/** The group of the servers to select from, then the servers; those that are only probed have no group. */
export function serverVariables({ many }: { readonly many: boolean }): readonly VariableBuilder[] {
  const group = labelVariable('group', 'Group', 'Configured group of the servers', 'minecraft_server_info')
  const series = `{__name__=~"minecraft_up|minecraft_server_info",group=~${selected('group')}}`
  const server = labelVariable('server', 'Server', 'Configured name of the game server', series)
  return [selectMany(group), many ? selectMany(server) : server]
}

/** How many servers the panels with lines show. */
export const topVariable: VariableBuilder = new CustomVariableBuilder('top')
  .label('Lines')
  .description('Maximum number of servers in a panel with lines')
  .values('10,25,50,100')
  .current({ text: '10', value: '10', selected: true })

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
