/**
 * The names of a server's settings where it was configured, by environment name: in a config file `MC_RCON_PASSWORD` is
 * `rcon.password`. A setting that is not in the record has its environment name.
 */
export type SettingNames = Readonly<Record<string, string>>

/** Replaces the environment names of settings in a text with their names in the server's configuration. */
export const nameSettings = (text: string, names: SettingNames | undefined): string =>
  names === undefined ? text : text.replaceAll(/\bMC_[A-Z_]+\b/g, (env) => names[env] ?? env)
