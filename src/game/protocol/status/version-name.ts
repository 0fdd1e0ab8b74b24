/**
 * A Java game version: `1.21.11`, `26.1`, `26.1-snapshot-2`, `1.21.11-pre3`, `25w14a`, or in the form `1.21.11 Pre-Release 3`,
 * `1.21.11 Release Candidate 1`, `26.1 Snapshot 2`. Not `beta 1.7.3`, which is another version than 1.7.3.
 */
const gameVersion =
  /(?<![\w.-])(?<!\b(?:alpha|beta)\W{1,3}(?=1\.[0-8]\b))(?:1\.\d{1,2}(?:\.\d{1,2})?|(?:2[6-9]|[3-9]\d)\.\d{1,2}(?:\.\d{1,2})?|\d\dw\d\d[a-z])(?:-(?:pre|rc|snapshot)-?\d{1,3}| (?:pre-?release|release candidate|snapshot) \d{1,3})?(?![\w.-])/gi

/** Words before the version that are not the name of a software. */
const noSoftware =
  /^(?:requires?|required|needs?|minecraft|java|versions?|only|use|using|update|updated?|join|please|outdated|supports?|supported|from|client|server|release|snapshot|alpha|beta|mc|ver|the|and|or|with|maintenance|offline|online|latest|all|any|now|on|for)$/i

export interface VersionName {
  /** The game version alone. */
  readonly version?: string
  /** The word before the version: `Paper`. */
  readonly software?: string
  /** Set for the name of a known proxy. */
  readonly proxy?: true
  /** Client versions that a proxy accepts, in its own notation: `1.7.2-26.1`, `1.8.x, 1.9.x`. */
  readonly acceptedVersions?: string
}

/** Proxies that send their own name in the status. */
const proxies: ReadonlySet<string> = new Set(['Velocity', 'BungeeCord', 'Waterfall', 'Travertine', 'FlameCord', 'Gate', 'Geyser'])

/**
 * Parses `version.name` of a status reply. Servers send arbitrary text (`Paper 1.21.11`, `Velocity 1.7.2-1.21.11`, `Join us!`). The
 * version is unknown if it is a range or list.
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
