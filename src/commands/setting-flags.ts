import { allSettings, settingsOfServer } from '../config/settings.ts'
import { flagOf, type Setting } from '../settings/setting.ts'

const bare = (setting: Setting<unknown>): string => flagOf(setting).slice(2)

/** Every setting by its flag without dashes, `mc-server`. */
export const settingFlags = (): ReadonlyMap<string, Setting<unknown>> =>
  new Map(allSettings.map((setting) => [bare(setting), setting]))

/** The settings of one server, whose address is an argument: `rcon` and `mc-rcon` for MC_RCON. */
export const serverFlags = (): ReadonlyMap<string, Setting<unknown>> => {
  const others = settingsOfServer.filter(({ env }) => !['MC_SERVER', 'MC_NAME', 'MC_GROUP'].includes(env))
  return new Map([
    ...others.map((setting) => [bare(setting).replace(/^mc-/, ''), setting] as const),
    ...others.map((setting) => [bare(setting), setting] as const),
  ])
}
