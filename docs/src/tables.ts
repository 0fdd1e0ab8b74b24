import { loadConfig } from '../../src/config/config.ts'
import { allSettings, settings, settingsOfServer } from '../../src/config/settings.ts'
import { databases } from '../../src/data/databases/index.ts'
import { scripts } from '../../src/data/scripts/index.ts'
import { type ScriptSettings, scriptSettings } from '../../src/data/scripts/script.ts'
import { scenarios } from '../../src/demo/scenarios.ts'
import { providers } from '../../src/discovery/index.ts'
import type { ProviderDescriptor } from '../../src/discovery/provider.ts'
import { fieldDescriptions, fieldNames } from '../../src/game/fields.ts'
import { precedence } from '../../src/game/merge.ts'
import { descriptorOf } from '../../src/game/sources/descriptor-of.ts'
import { sources } from '../../src/game/sources/index.ts'
import type { SourceDescriptor } from '../../src/game/sources/source.ts'
import { environmentOf, meaningOf, type Setting } from '../../src/settings/setting.ts'
import { code, marked, table } from './table.ts'

const list: readonly SourceDescriptor[] = sources
const providerList: readonly ProviderDescriptor[] = providers

const withoutArticle = (label: string): string => label.replace(/^the /, '')

/** The fields of a source: each label once. */
const given = ({ fields, pushes }: SourceDescriptor): string => {
  const labels = fieldNames
    .filter((name) => fields[name] !== undefined)
    .map((name) => withoutArticle(fieldDescriptions[name].label))
  return [...new Set(labels), ...(pushes ? ['events between polls'] : [])].join(', ')
}

/** Every source: how to enable it, its fields and its cost for the server. */
export const sourceTable = (): string =>
  table(
    ['source', 'name', 'edition', 'how to enable it', 'gives', 'cost to the server'],
    ...list.map((source) => [
      `[${source.title}](#${source.title.toLowerCase().replaceAll(' ', '-')})`,
      code(source.name),
      source.editions.map((edition) => (edition === 'java' ? 'Java' : 'Bedrock')).join(', '),
      marked(source.hints.notConfigured),
      given(source),
      source.cost,
    ]),
  )

/** The settings of scripts without values. */
const withoutSettings = (): ScriptSettings => scriptSettings(loadConfig({ env: {}, file: '/dev/null', watches: false }))

const fallbackOf = ({ default: text, otherwise }: Setting<unknown>): string => text ?? otherwise ?? 'none'

/** Addresses as code, so that they do not become links. */
const withCode = (text: string): string => text.replaceAll(/\b(?:https?|socks5):\/\/[^\s,]+/g, code)

function settingRow(setting: Setting<unknown>): readonly string[] {
  const keys = setting.file === undefined ? [] : [setting.file, ...(setting.secret ? [`${setting.file}File`] : [])]
  return [
    environmentOf(setting).map(code).join(', '),
    keys.map(code).join(', '),
    withCode(meaningOf(setting)) + (setting.deprecated === undefined ? '' : ` (deprecated: ${setting.deprecated})`),
    withCode(fallbackOf(setting)),
  ]
}

/** Every setting of a game server: in the environment and in its entry of `servers`. */
export const serverSettingTable = (): string =>
  table(['environment', 'in `servers`', 'meaning', 'default'], ...settingsOfServer.map(settingRow))

/** Every setting of the service itself: in the environment and in the config file. */
export const serviceSettingTable = (): string =>
  table(
    ['environment', 'config file', 'meaning', 'default'],
    ...allSettings.filter((setting) => !settingsOfServer.includes(setting)).map(settingRow),
  )

/** Every provider of servers, in order of precedence: its source, the setting that enables it, and how entries become servers. */
export const providerTable = (): string =>
  table(
    ['source of the servers', 'environment', 'in the config file', 'entries'],
    ...providerList.map(({ title, meaning, settings }) => {
      const [main]: readonly (Setting<unknown> | undefined)[] = Object.values(settings)
      const fallback = main?.otherwise === undefined ? '' : ` (default: ${main.otherwise})`
      const key = main?.file === undefined ? '' : code(main.file)
      return [title, main === undefined ? '' : code(main.env) + fallback, key, meaning]
    }),
  )

/** Every field with its unit and the sources that provide it, best first. */
export const fieldTable = (): string =>
  table(
    ['field', 'meaning', 'unit', 'sources, best first'],
    ...fieldNames.map((name) => {
      const { label, unit = '' } = fieldDescriptions[name]
      const giving = precedence[name].map((source) => {
        const required = descriptorOf(source).requires?.[name]
        return required === undefined ? source : `${source} (${required})`
      })
      return [code(name), withoutArticle(label), unit, giving.join(', ')]
    }),
  )

/** Every database of the data service: its routes, its snapshot and the setting for another location. */
export const databaseTable = (): string =>
  table(
    ['routes', 'database', 'snapshot in `DATA_DIR`', 'another file or URL'],
    ...databases.map(({ name, tag, setting }) => [
      code(`/v1/${name}/...`),
      tag.description.replace(/^A database of /, ''),
      code(`${name}.json`),
      setting === undefined ? '' : code(settings[setting].env),
    ]),
  )

/** Every update script: the route that starts it, and the database that it writes. */
export const scriptTable = (): string =>
  table(
    ['script', 'route that starts it', 'database that it writes', 'required settings'],
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

/** What each scenario of the demo server does. */
export const scenarioTable = (): string =>
  table(['scenario', 'what happens'], ...Object.entries(scenarios).map(([name, { meaning }]) => [code(name), meaning]))
