/**
 * What the settings of a server are called where it was configured, by environment name: in the entry of a config file
 * `MC_RCON_PASSWORD` is `rcon.password`. One that is absent has its environment name.
 */
export type SettingNames = Readonly<Record<string, string>>

/** A text with environment names of settings, with the names that the server's configuration has for them. */
export const nameSettings = (text: string, names: SettingNames | undefined): string =>
  names === undefined ? text : text.replaceAll(/\bMC_[A-Z_]+\b/g, (env) => names[env] ?? env)
