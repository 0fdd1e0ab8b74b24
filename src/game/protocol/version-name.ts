/**
 * `1.21.11`, `26.1`, `26.1-snapshot-2`, `1.21.11-pre3`, `25w14a`: the forms of a Java game version. What comes before a release calls
 * itself `1.21.11 Pre-Release 3`, `1.21.11 Release Candidate 1` or `26.1 Snapshot 2`.
 */
const gameVersion =
  /(?<![\w.-])(?:1\.\d{1,2}(?:\.\d{1,2})?|(?:2[6-9]|[3-9]\d)\.\d{1,2}(?:\.\d{1,2})?|\d\dw\d\d[a-z])(?:-(?:pre|rc|snapshot)-?\d{1,3}| (?:pre-?release|release candidate|snapshot) \d{1,3})?(?![\w.-])/gi

/** A word before the version that speaks to the reader and names no software. */
const noSoftware =
  /^(?:requires?|required|needs?|minecraft|java|versions?|only|use|using|update|updated?|join|please|outdated|supports?|supported|from|client|server|release|snapshot|alpha|beta|mc|ver|the|and|or|with|maintenance|offline|online|latest|all|any|now|on|for)$/i

export interface VersionName {
  /** The game version alone. */
  readonly version?: string
  /** The word the server puts before it: `Paper`. */
  readonly software?: string
  /** It is a proxy, known by its name: other servers are behind it. */
  readonly proxy?: true
  /** Of a proxy: the versions of the clients that it accepts, as it writes them: `1.7.2-26.1`, `1.8.x, 1.9.x`. */
  readonly acceptedVersions?: string
}

/** Proxies that put their own name into the status. */
const proxies: ReadonlySet<string> = new Set(['Velocity', 'BungeeCord', 'Waterfall', 'Travertine', 'FlameCord', 'Gate', 'Geyser'])

/**
 * What a status reply's `version.name` tells. Servers write anything there (`Paper 1.21.11`, `Velocity 1.7.2-1.21.11`, `Join us!`):
 * a range or list names no one version, so the version is unknown then.
 */
export function parseVersionName(name: string): VersionName {
  const text = name.slice(0, 200).trim()
  const versions = [...text.matchAll(gameVersion)]
  const [first] = versions
  const software = /^([A-Za-z][A-Za-z]{2,31})(?= \d)/.exec(text)?.[1]
  const isProxy = software !== undefined && proxies.has(software)
  const accepted = isProxy ? /^ (\d[\d.x]*(?:(?: ?- ?|, ?)\d[\d.x]*)+)$/.exec(text.slice(software.length))?.[1] : undefined
  return {
    ...(first && versions.length === 1 && { version: first[0] }),
    ...(software !== undefined && !noSoftware.test(software) && { software }),
    ...(isProxy && { proxy: true as const }),
    ...(accepted !== undefined && { acceptedVersions: accepted }),
  }
}
