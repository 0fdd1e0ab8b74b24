import { textAt } from '../../../util/is-record.ts'
import { parseJsonIfValid } from '../../../util/json.ts'
import type { Measure } from '../source.ts'
import { parseOnChange, readOnChange } from './changes.ts'
import { listInside } from './folder.ts'
import { buildNumber } from './log-lines.ts'

export interface Loader {
  readonly loader: string
  /** The number only; absent if it cannot be found. */
  readonly version?: string
}

/** Of `1.20.1-47.2.0`, in older versions `1.7.10-10.13.4.1614-1.7.10`. */
const afterGame = (name: string): string => name.match(/-([^-]+)/)?.[1] ?? name

/** Of `minecraft-1.20.1-0.14.21`; `''` of `minecraft-1.16.5`, as before Fabric 0.12.9; undefined of any other folder. */
const afterMinecraft = (name: string): string | undefined =>
  name.startsWith('minecraft-') ? (name.split('-').slice(2).at(-1) ?? '') : undefined

type VersionOf = (name: string) => string | undefined

const libraries: readonly (readonly [loader: string, path: string, versionOf: VersionOf])[] = [
  ['NeoForge', 'libraries/net/neoforged/neoforge', (name) => name],
  // For 1.20.1 only.
  ['NeoForge', 'libraries/net/neoforged/forge', afterGame],
  ['Forge', 'libraries/net/minecraftforge/forge', afterGame],
  ['Quilt', 'libraries/org/quiltmc/quilt-loader', (name) => name],
  ['Fabric', 'libraries/net/fabricmc/fabric-loader', (name) => name],
  ['Fabric', '.fabric/remappedJars', afterMinecraft],
]

const maxHistoryBytes = 64 * 1024

const byNumber = new Intl.Collator('en', { numeric: true })

/** Returns the newest installed version of a library, `''` if it is unknown: an update may leave older ones behind. */
async function newestIn(folder: string, path: string, versionOf: VersionOf): Promise<string | undefined> {
  const versions = (await listInside(folder, path))
    .flatMap((name) => versionOf(name) ?? [])
    .filter((version) => /^(?:\d(?:[\w.+-]{0,59}\w)?)?$/.test(version))
  return versions.sort(byNumber.compare).at(-1)
}

/**
 * Detects the mod loader or server software by its files in the server's folder, which are read again when they change. The returned
 * function returns undefined if none is detected.
 */
export function createLoaderReader(folder: string, measure: Measure): () => Promise<Loader | undefined> {
  const readers = libraries.map(([loader, path, versionOf]) => ({
    loader,
    read: readOnChange(folder, path, () => newestIn(folder, path, versionOf)),
  }))
  const readHistory = parseOnChange(folder, 'version_history.json', maxHistoryBytes, (bytes) =>
    measure(() => parseHistory(bytes.toString('utf8'))),
  )
  return async () => {
    for (const { loader, read } of readers) {
      const version = await read()
      if (version !== undefined) return { loader, ...(version !== '' && { version }) }
    }
    return readHistory()
  }
}

/** Paper and its forks: `git-Paper-196 (MC: 1.20.1)`, from 1.20.5 `1.21.4-232-12d8fe0 (MC: 1.21.4)` without the name. */
function parseHistory(text: string): Loader | undefined {
  const current = textAt(parseJsonIfValid(text), 'currentVersion')
  if (current === undefined) return undefined
  const version = buildNumber(current.replace(/ .*/s, ''))
  if (version === undefined) return undefined
  return { loader: /^git-([A-Za-z]{1,30})-/.exec(current)?.[1] ?? 'Paper', version }
}
