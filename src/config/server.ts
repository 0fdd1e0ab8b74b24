import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PartialSettings, ServerSettings } from '../game/server.ts'
import { serverKeys } from './file.ts'
import type { ServerSetting, Settings } from './read.ts'
import { type Setting, settings } from './settings.ts'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** What the user would have to set: by its place in the config file, or by its name in the environment. */
function namesOf(name: ServerSetting, inFile: boolean): string {
  const { env, secret }: Setting<unknown> = settings[name]
  const own = inFile ? serverKeys[name] : env
  return secret ? `${own} (or ${own}${inFile ? 'File' : '_FILE'})` : own
}

/** What lacks a setting that it needs. One that was set wrongly is not lacking: that has been said already. */
function findLacking(said: Settings<ServerSetting>['said'], problems: string[]): void {
  const needs = (name: ServerSetting | undefined, ...others: readonly ServerSetting[]): void => {
    const own = name && said.get(name)
    if (own === undefined || others.some((other) => said.has(other))) return
    problems.push(`${own.from} is set without ${others.map((other) => namesOf(other, own.inFile)).join(' or ')}`)
  }
  const first = (...names: readonly ServerSetting[]) => names.find((name) => said.has(name))
  // The directory tells what is not set.
  if (said.has('directory')) return
  needs('rcon', 'rconPassword')
  needs('rconPassword', 'rcon', 'server')
  needs('management', 'managementSecret')
  needs(first('managementSecret', 'managementCa', 'managementFingerprint'), 'management')
  needs(first('rcon', 'management', 'query'), 'server', 'directory')
}

/**
 * One server from its settings; mistakes are added to `problems`.
 * @param entry its place in the config file; undefined where it has none
 * @returns undefined where nothing says what to watch
 */
export function toServer(
  { values, said }: Settings<ServerSetting>,
  entry: string | undefined,
  problems: string[],
): ServerSettings | undefined {
  const { server, name, rcon, rconPassword, management, managementSecret, managementCa, managementFingerprint, query } = values
  const directory = values.directory === undefined ? undefined : resolve(values.directory)
  if (managementCa !== undefined && !existsSync(managementCa))
    problems.push(`${said.get('managementCa')?.from} is "${managementCa}"; expected a PEM file that exists`)
  if (directory !== undefined && !isFolder(directory)) {
    problems.push(
      `${said.get('directory')?.from} is "${directory}"; expected a folder that exists, the one with server.properties`,
    )
  }
  if (entry !== undefined && !said.has('server') && !said.has('directory'))
    problems.push(`${entry} has no address and no directory`)
  else findLacking(said, problems)
  if (server === undefined && directory === undefined) return undefined

  // With a directory, its properties tell the port.
  const rconAddress =
    rcon ?? (rconPassword !== undefined && server && directory === undefined ? { host: server.host, port: 25575 } : undefined)
  const managementParts = {
    ...(management !== undefined && { url: management }),
    ...(managementSecret !== undefined && { secret: managementSecret }),
    ...(managementCa !== undefined && { caFile: resolve(managementCa) }),
    ...(managementFingerprint !== undefined && { fingerprint: managementFingerprint }),
  }
  const partial: PartialSettings = {
    ...(rcon && rconPassword === undefined && { rcon }),
    ...(rconAddress === undefined && rconPassword !== undefined && { rconPassword }),
    ...((management === undefined || managementSecret === undefined) &&
      Object.keys(managementParts).length > 0 && { management: managementParts }),
  }
  return {
    name: name ?? settings.name.default ?? 'Server',
    ...(server && { address: server }),
    ...(rconAddress && rconPassword !== undefined && { rcon: { address: rconAddress, password: rconPassword } }),
    ...(management !== undefined &&
      managementSecret !== undefined && {
        management: { ...managementParts, url: management, secret: managementSecret },
      }),
    ...(query && { query }),
    ...(directory !== undefined && { directory, ...(Object.keys(partial).length > 0 && { partial }) }),
  }
}
