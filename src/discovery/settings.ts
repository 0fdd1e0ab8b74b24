import type { SettingTable } from '../settings/setting.ts'
import { providers } from './index.ts'
import type { ProviderDescriptor } from './provider.ts'

type TableOf<P> = P extends ProviderDescriptor<string, infer T> ? T : never
type Joined<T> = (T extends unknown ? (table: T) => void : never) extends (table: infer J) => void ? J : never

const descriptors: readonly ProviderDescriptor[] = providers

/** The settings of all providers. */
export const discoverySettings = Object.assign({}, ...descriptors.map(({ settings }) => settings)) as Joined<
  TableOf<(typeof providers)[number]>
>

const mainOf = (settings: SettingTable): string | undefined => Object.keys(settings)[0]

/** The active providers. */
export const activeProviders = (
  values: Readonly<Record<string, unknown>>,
  configFile: string | undefined,
): readonly ProviderDescriptor[] =>
  descriptors.filter((provider) => {
    const main = mainOf(provider.settings)
    return (main !== undefined && values[main] !== undefined) || provider.isFound?.(configFile)
  })

/** Whether a provider other than the configuration is active, so that the configuration need not list servers. */
export const isDiscoveryOn = (values: Readonly<Record<string, unknown>>, configFile: string | undefined): boolean =>
  activeProviders(values, configFile).some(({ name }) => name !== 'config')
