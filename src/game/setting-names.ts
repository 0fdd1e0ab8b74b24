/**
 * The settings of one server by the names that they have in its configuration, by environment name: `MC_RCON_PASSWORD` is
 * `servers[1].rcon.password`. One that is missing has its environment name.
 */
export type SettingNames = Readonly<Record<string, string>>

/** A text with environment names of settings, with the names that the server's configuration has for them. */
export const nameSettings = (text: string, names: SettingNames | undefined): string =>
  names === undefined ? text : text.replaceAll(/\bMC_[A-Z_]+\b/g, (env) => names[env] ?? env)
