import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { settingsOfServer } from '../../config/settings.ts'
import type { PlannedServer } from './find-servers.ts'

/** The files and folders that the settings of a server name. */
export const pathsOf = ({ settings: given }: PlannedServer): readonly string[] =>
  settingsOfServer.flatMap(({ env, secret, kind }) => {
    const path = secret ? given[`${env}_FILE`] : kind.isLocal && given[env]
    return path ? [resolve(path)] : []
  })

/**
 * The number of the only group or user that may read a file or folder; neither if all may. One that cannot be read here is told by the
 * test of the server.
 */
function readerOf(path: string): { readonly group?: number; readonly user?: number } {
  try {
    const { mode, gid, uid } = statSync(path)
    if (mode & 0o004) return {}
    return mode & 0o040 ? { group: gid } : { user: uid }
  } catch {
    return {}
  }
}

/** What the settings name, and each server.properties: one with a password is often readable for its group only. */
export const pathsToRead = (servers: readonly PlannedServer[]): readonly string[] =>
  servers.flatMap((server) => {
    const { MC_DIRECTORY: folder } = server.settings
    return [...pathsOf(server), ...(folder === undefined ? [] : [join(folder, 'server.properties')])]
  })

/** The numbers of the groups that are needed to read what the settings name. */
export const groupsOf = (servers: readonly PlannedServer[]): readonly string[] => [
  ...new Set(pathsToRead(servers).flatMap((path) => readerOf(path).group?.toString() ?? [])),
]

/** The user `node` of the image. */
export const containerUser = 1000

/** The files and folders among them that the user of the container cannot read. */
export const hiddenFromContainer = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => (readerOf(path).user ?? containerUser) !== containerUser)
