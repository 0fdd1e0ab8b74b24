import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensure } from '../../test/tools/ensure.mjs'
import { routeTable } from './api-tables.ts'
import { chartValueTable } from './chart-values.ts'
import { commandSections } from './command-line.ts'
import { developmentDependencies, licenceTable, oldDependencies, serviceDependencies, toolDependencies } from './dependencies.ts'
import { errorCodeSections } from './error-codes.ts'
import { layerDiagram } from './layer-diagram.ts'
import { chartVersion, packageWithLinks, repositoryPage } from './maintainer.ts'
import { metricsTable } from './metrics-table.ts'
import { serverSoftwareTable } from './server-software.ts'
import { type OpenApi, readOpenApi } from './service.ts'
import {
  databaseTable,
  fieldTable,
  providerTable,
  scenarioTable,
  scriptTable,
  serverSettingTable,
  serviceSettingTable,
  sourceTable,
} from './tables.ts'

const root = join(import.meta.dirname, '..', '..')

type Make = (openapi: OpenApi) => string

/** The text between `<!-- generated: NAME -->` and `<!-- end -->`, or the same as comments of YAML, by file and name. */
const parts: Readonly<Record<string, Readonly<Record<string, Make>>>> = {
  'docs/settings.md': { 'server settings': serverSettingTable, 'service settings': serviceSettingTable },
  'docs/sources.md': { sources: sourceTable },
  'docs/discovery.md': { providers: providerTable },
  'docs/fields.md': { fields: fieldTable },
  'docs/server-software.md': { names: serverSoftwareTable },
  'docs/metrics.md': { metrics: metricsTable },
  'docs/api.md': {
    'status routes': (openapi) => routeTable(openapi, (path) => path.startsWith('/api/v1/')),
    'data routes': (openapi) => routeTable(openapi, (path) => path.startsWith('/v1/')),
    'other routes': (openapi) => routeTable(openapi, (path) => !/^\/(api\/)?v1\//.test(path)),
  },
  'docs/demo.md': { scenarios: scenarioTable },
  'docs/data-service.md': { databases: databaseTable },
  'docs/update-scripts.md': { scripts: scriptTable },
  'docs/dependencies.md': {
    service: serviceDependencies,
    licences: licenceTable,
    development: developmentDependencies,
    tools: toolDependencies,
    old: oldDependencies,
  },
  'docs/troubleshooting.md': { 'error codes': errorCodeSections },
  '.github/ISSUE_TEMPLATE/config.yml': { advisory: () => `    url: ${repositoryPage()}/security/advisories/new` },
  'charts/tickwarden/Chart.yaml': { version: chartVersion },
  'charts/tickwarden/README.md': { values: chartValueTable },
  'docs/contributing/README.md': { diagram: layerDiagram },
}

/** @throws RangeError if the text has no such markers */
function replaced(text: string, name: string, content: string): string {
  const found = new RegExp(
    `( *# generated: ${name}\\n|<!-- generated: ${name} -->\\n\\n)[^]*?(\\n *# end\\n|\\n\\n<!-- end -->)`,
  ).exec(text)
  if (found === null) throw new RangeError(`no "generated: ${name}" with an "end"`)
  const [{ length }, begin = '', end = ''] = found
  return text.slice(0, found.index) + begin + content + end + text.slice(found.index + length)
}

/** The pages with their generated parts, by path relative to the root of the project. */
export async function generatePages(): Promise<Readonly<Record<string, string>>> {
  await ensure('test/tools')
  const [openapi, commands] = await Promise.all([readOpenApi(), commandSections()])
  const all: typeof parts = { ...parts, 'docs/command-line.md': { commands: () => commands } }
  const pages = Object.fromEntries(
    Object.entries(all).map(([path, made]) => [
      path,
      Object.entries(made).reduce(
        (text, [name, make]) => replaced(text, name, make(openapi)),
        readFileSync(join(root, path), 'utf8'),
      ),
    ]),
  )
  return { ...pages, 'package.json': packageWithLinks() }
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(await generatePages())) {
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}
