import { type Level, levels } from '../values/levels.ts'
import { type SeriesName, series, seriesNames } from '../values/series.ts'

/** `PRAGMA application_id`: "TkWd". */
export const applicationId = 0x546b5764
/** `PRAGMA user_version`: raised when a table changes. A newer database is not opened. */
export const schemaVersion = 2

/** The columns of a series. */
const columnsOf = (column: string): readonly string[] => ['known_ms', 'mean', 'min', 'max'].map((name) => `${column}_${name}`)

/** The columns of a bucket. Only a day has the time of its maximum. @param names of its series */
export const bucketColumns = ({ table }: Level, names: readonly SeriesName[] = seriesNames): readonly string[] => [
  ...['time', 'server', 'known_ms', 'up_ms'],
  ...names.flatMap((name) => columnsOf(series[name].column)),
  ...(table === 'days' ? ['players_max_at'] : []),
]

const typeOf = (column: string): string => (/_(min|mean|max)$/.test(column) ? 'REAL' : 'INTEGER')

const bucketTable = (level: Level): string => `
CREATE TABLE ${level.table} (
  time INTEGER NOT NULL,            -- start, Unix milliseconds
  server INTEGER NOT NULL REFERENCES servers,
  known_ms INTEGER NOT NULL,        -- for so long the state of the server was known
  up_ms INTEGER NOT NULL,           -- for so long it was up
  -- Of each series: for how long it was known, and its mean, minimum and maximum; NULL if it was not known at all.
  -- Players; milliseconds for latency, tick_time_mean and tick_time_p99; ticks per second.
${bucketColumns(level)
  .slice(4)
  .map((column) => `  ${column} ${typeOf(column)},\n`)
  .join('')}  PRIMARY KEY (time, server)
) WITHOUT ROWID;
`

const incidentTables = `
-- Times in which something was wrong with a server.
CREATE TABLE incidents (
  server INTEGER NOT NULL REFERENCES servers,
  from_at INTEGER NOT NULL,
  kind TEXT NOT NULL,               -- down, hung, or lag: below its tick rate for a minute
  to_at INTEGER,                    -- when the server was first known to be in another state; NULL before that
  known_at INTEGER NOT NULL,        -- up to when it is known to have gone on
  unknown_ms INTEGER NOT NULL,      -- for so long the state was unknown since it began
  detail TEXT,                      -- why it is down; while it lags, the lowest number of ticks per second
  PRIMARY KEY (server, from_at)
) WITHOUT ROWID;
CREATE INDEX incidents_by_time ON incidents (from_at);

-- What an admin wrote about an incident.
CREATE TABLE incident_notes (
  server INTEGER NOT NULL,
  from_at INTEGER NOT NULL,         -- of the incident
  at INTEGER NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (server, from_at, at)
) WITHOUT ROWID;
`

/**
 * What makes a database of an earlier version one of this version: the incidents are made of the changes of state. Those of one that goes on
 * are known up to the newest minute.
 */
export const migrations: readonly string[] = [
  `${incidentTables}
WITH changes AS (
  SELECT server, time, kind, detail, lead(time) OVER (PARTITION BY server ORDER BY time) AS next
  FROM events WHERE kind IN ('up', 'down', 'hung')
)
INSERT INTO incidents SELECT server, time, kind, next, ifnull(next, max(time, (SELECT ifnull(max(time), 0) FROM minutes))), 0, detail
FROM changes WHERE kind <> 'up';
PRAGMA user_version = 2;`,
]

/** Those that are missing are created in a database of any version, which does not make it one of a newer version. */
export const indexesOfSessions = `
CREATE INDEX IF NOT EXISTS sessions_of_server ON sessions (server, changed_at);
CREATE INDEX IF NOT EXISTS sessions_in_order ON sessions (server);
CREATE INDEX IF NOT EXISTS sessions_online ON sessions (server) WHERE online = 1;
CREATE INDEX IF NOT EXISTS sessions_of_player ON sessions (uuid);
CREATE INDEX IF NOT EXISTS sessions_of_name ON sessions (server, player);
`

/** All times are Unix milliseconds. Rows of a bucket are sorted by time, so that new ones are appended. */
export const schema = `
CREATE TABLE servers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  first_at INTEGER,                 -- since when it is recorded
  record_players INTEGER,           -- most players at once, and when
  record_at INTEGER
);
${levels.map(bucketTable).join('')}
-- Visits of players, of servers with a source that provides the full list.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  server INTEGER NOT NULL REFERENCES servers,
  player TEXT NOT NULL,
  uuid TEXT,                        -- with dashes; NULL if only the name is known
  joined_at INTEGER,                -- NULL if the player joined before the server was watched
  left_at INTEGER,                  -- NULL while online, and if the player left while the server was not watched
  online INTEGER NOT NULL,          -- 1 until the player leaves
  changed_at INTEGER NOT NULL       -- when the player joined or left; while online, of the last list with the player
);

-- Changes of state: up, down, hung (up, but the main thread does not answer) and version.
CREATE TABLE events (
  time INTEGER NOT NULL,
  server INTEGER NOT NULL REFERENCES servers,
  kind TEXT NOT NULL,
  detail TEXT,                      -- why it is down; the new version
  PRIMARY KEY (time, server, kind)
) WITHOUT ROWID;
CREATE INDEX events_of_server ON events (server, time);

${incidentTables}
-- Files of an earlier version that have been taken over.
CREATE TABLE imported (file TEXT PRIMARY KEY) WITHOUT ROWID;

${indexesOfSessions}
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${schemaVersion};
`

/**
 * Adds the values of buckets to those that they have. The times stay within the bucket even if the clock was set back. The values of
 * a row are in the order of `bucketColumns`.
 */
export function upsertBuckets(level: Level, names: readonly SeriesName[], rows: string): string {
  const ofSeries = names.map((name) => columnsOf(series[name].column))
  const sums = ['known_ms', 'up_ms'].map((column) => `${column} = min(${column} + excluded.${column}, ${level.step})`)
  const peakAt = `players_max_at = CASE WHEN ifnull(players_max, -1) < excluded.players_max
    THEN excluded.players_max_at ELSE players_max_at END`
  const values = ofSeries.flatMap(([known, mean, min, max]) => [
    `${known} = min(ifnull(${known}, 0) + excluded.${known}, ${level.step})`,
    `${mean} = ifnull((${mean} * ${known} + excluded.${mean} * excluded.${known}) / (${known} + excluded.${known}), excluded.${mean})`,
    `${min} = min(ifnull(${min}, excluded.${min}), excluded.${min})`,
    `${max} = max(ifnull(${max}, excluded.${max}), excluded.${max})`,
  ])
  const updates = [...sums, ...values, ...(level.table === 'days' && names.includes('players') ? [peakAt] : [])]
  return `INSERT INTO ${level.table} (${bucketColumns(level, names).join(', ')}) VALUES ${rows}
    ON CONFLICT (time, server) DO UPDATE SET ${updates.join(', ')}`
}

/**
 * Only an earlier time than the stored one, and a larger number of players, count.
 * @param rows of a server: since when it is recorded, and the most players at once, and when
 */
export const extendServers = (rows: string): string => `
  UPDATE servers SET first_at = ifnull(min(ifnull(first_at, since), since), first_at),
    record_at = iif(ifnull(record_players, -1) < players, at, record_at),
    record_players = ifnull(max(ifnull(record_players, players), players), record_players)
  FROM (SELECT column1 AS server, column2 AS since, max(column3) AS players, column4 AS at FROM (VALUES ${rows}) GROUP BY column1)
  WHERE id = server AND (ifnull(first_at > since, 1) OR ifnull(record_players, -1) < players)`
