import { environmentOf, type Setting } from '../../src/config/setting.ts'
import { settings, settingsOfServer } from '../../src/config/settings.ts'
import { loadConfig } from '../../src/config.ts'
import { databases } from '../../src/data/databases.ts'
import { scripts } from '../../src/data/scripts/index.ts'
import { type ScriptSettings, scriptSettings } from '../../src/data/scripts/script.ts'
import { providers } from '../../src/discovery/index.ts'
import type { ProviderDescriptor } from '../../src/discovery/provider.ts'
import { fieldDescriptions, fieldNames } from '../../src/game/fields.ts'
import { precedence } from '../../src/game/snapshot.ts'
import { descriptorOf } from '../../src/game/sources/descriptor-of.ts'
import { sources } from '../../src/game/sources/index.ts'
import type { SourceDescriptor } from '../../src/game/sources/source.ts'

const list: readonly SourceDescriptor[] = sources
const providerList: readonly ProviderDescriptor[] = providers

/** A Markdown table with columns of equal width. */
function table(...rows: readonly (readonly string[])[]): string {
  const [head = []] = rows
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [first = '', ...others] = rows.map(line)
  return [first, line(widths.map((width) => '-'.repeat(width))), ...others].join('\n')
}

const code = (text: string): string => `\`${text}\``

/** Names of settings and of the game's properties as code. */
const marked = (text: string): string => text.replaceAll(/\b[A-Z]+_[A-Z_]+\b|\b[a-z-]+=true\b/g, code)

const withoutArticle = (label: string): string => label.replace(/^the /, '')

/** What a source gives: the label of each field, once. */
const given = ({ fields, pushes }: SourceDescriptor): string => {
  const labels = fieldNames
    .filter((name) => fields[name] !== undefined)
    .map((name) => withoutArticle(fieldDescriptions[name].label))
  return [...new Set(labels), ...(pushes ? ['events between polls'] : [])].join(', ')
}

/** Every source: what switches it on, what it gives and what it costs the server. */
export const sourceTable = (): string =>
  table(
    ['source', 'name', 'edition', 'switch it on', 'gives', 'cost to the server'],
    ...list.map((source) => [
      `[${source.title}](#${source.title.toLowerCase().replaceAll(' ', '-')})`,
      code(source.name),
      source.editions.map((edition) => (edition === 'java' ? 'Java' : 'Bedrock')).join(', '),
      marked(source.hints.notConfigured),
      given(source),
      source.cost,
    ]),
  )

/** The settings of scripts where none is set. */
const withoutSettings = (): ScriptSettings => scriptSettings(loadConfig({ env: {}, file: '/dev/null', watches: false }))

const fallbackOf = ({ default: text, otherwise }: Setting<unknown>): string => text ?? otherwise ?? 'none'

/** Every setting of a game server: in the environment and in its entry of `servers`. */
export const serverSettingTable = (): string =>
  table(
    ['environment', 'in `servers`', 'meaning', 'default'],
    ...settingsOfServer.map((setting) => {
      const keys = setting.file === undefined ? [] : [setting.file, ...(setting.secret ? [`${setting.file}File`] : [])]
      const environment = environmentOf(setting).map(code).join(', ')
      return [environment, keys.map(code).join(', '), setting.meaning, fallbackOf(setting)]
    }),
  )

/** Every provider of servers, in their order of precedence: what it reads, the setting that switches it on, and what it makes of it. */
export const providerTable = (): string =>
  table(
    ['where servers come from', 'environment', 'in the config file', 'what is a server'],
    ...providerList.map(({ title, meaning, settings }) => {
      const [main]: readonly (Setting<unknown> | undefined)[] = Object.values(settings)
      const fallback = main?.otherwise === undefined ? '' : ` (default: ${main.otherwise})`
      return [
        title,
        main === undefined ? '' : code(main.env) + fallback,
        main?.file === undefined ? '' : code(main.file),
        meaning,
      ]
    }),
  )

/** Every field with its unit and the sources that give it, best first. */
export const fieldTable = (): string =>
  table(
    ['field', 'what it is', 'unit', 'sources, best first'],
    ...fieldNames.map((name) => {
      const { label, unit = '' } = fieldDescriptions[name]
      const giving = precedence[name].map((source) => {
        const required = descriptorOf(source).requires?.[name]
        return required === undefined ? source : `${source} (${required})`
      })
      return [code(name), withoutArticle(label), unit, giving.join(', ')]
    }),
  )

/** Every database of the data service: its routes, its snapshot and the setting that names another one. */
export const databaseTable = (): string =>
  table(
    ['routes', 'database', 'snapshot in `DATA_DIR`', 'another file or URL'],
    ...databases.map(({ name, tag, file, setting }) => [
      code(`/v1/${name}/...`),
      tag.description.replace(/^A database of /, ''),
      code(file),
      setting === undefined ? '' : code(settings[setting].env),
    ]),
  )

/** Every update script: the route that starts it, and the database that it writes. */
export const scriptTable = (): string =>
  table(
    ['script', 'route that starts it', 'database that it writes', 'settings without which it cannot run'],
    ...scripts.map((script) => [
      code(script.name),
      code(script.route),
      script.database === undefined ? 'none' : code(script.database),
      script
        .missingSettings(withoutSettings())
        .map((name) => code(settings[name].env))
        .join(', '),
    ]),
  )
