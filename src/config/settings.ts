import { scripts } from '../data/scripts/index.ts'
import { discoverySettings } from '../discovery/settings.ts'
import { serverSettings } from '../game/server.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import {
  basePath,
  baseUrl,
  bearerToken,
  duration,
  fileOrUrl,
  headsUrl,
  host,
  hostPattern,
  hostPort,
  integer,
  type Kind,
  keyPrefix,
  list,
  oneOf,
  origin,
  proxyRange,
  schedule,
  stateAddress,
  text,
} from './kinds.ts'
import type { Setting, SliceOf, ValuesOf } from './setting.ts'

const upstream = baseUrl('https:', 'http:')
/** Keeps the type of `default`, because a setting with a default always has a value. */
const setting = <T, const D extends Omit<Setting<T>, 'kind'>>(definition: D & { readonly kind: Kind<T> }) => definition

/** The address of the service. */
const listen = {
  host: setting({ env: 'HOST', file: 'host', kind: host, default: '127.0.0.1', meaning: 'address to listen on' }),
  port: setting({
    env: 'PORT',
    file: 'port',
    kind: integer(0, 65535),
    default: '8080',
    meaning: 'port to listen on; 0 chooses a free one',
  }),
} as const

/** How game servers are polled. */
const poll = {
  pollInterval: setting({
    env: 'POLL_INTERVAL',
    file: 'poll.interval',
    kind: duration('500ms', '1h'),
    default: '5s',
    meaning: 'time between polls',
  }),
  pollTimeout: setting({
    env: 'POLL_TIMEOUT',
    file: 'poll.timeout',
    kind: duration('50ms', '1m'),
    default: '3s',
    meaning: 'timeout of one poll',
  }),
  staleAfter: setting({
    env: 'STALE_AFTER',
    file: 'poll.staleAfter',
    kind: duration('1s', '1d'),
    otherwise: '3 poll intervals; with STATE_URL at least one and 2 heartbeats',
    meaning: 'age after which values are treated as unknown',
  }),
} as const

/** The databases of the data service. */
const data = {
  dataDir: setting({
    env: 'DATA_DIR',
    file: 'data.dir',
    kind: text,
    otherwise: 'the packaged sample data',
    meaning: 'folder of projects.json and kcomebacks.json',
  }),
  projectsSnapshot: setting({
    env: 'PROJECTS_SNAPSHOT',
    file: 'data.projects',
    kind: fileOrUrl,
    otherwise: 'projects.json in DATA_DIR',
    meaning: 'file or https:// URL of the projects',
  }),
  kcomebacksSnapshot: setting({
    env: 'KCOMEBACKS_SNAPSHOT',
    file: 'data.kcomebacks',
    kind: fileOrUrl,
    otherwise: 'kcomebacks.json in DATA_DIR',
    meaning: 'file or https:// URL of the comebacks',
  }),
  dataRefresh: setting({
    env: 'DATA_REFRESH',
    file: 'data.refresh',
    kind: duration('1s', '1d'),
    default: '5m',
    meaning: 'time between requests to a snapshot URL',
  }),
} as const

/** Schedule and protection of the update scripts. */
const runs = {
  runToken: setting({
    env: 'RUN_TOKEN',
    file: 'runs.token',
    kind: bearerToken,
    secret: true,
    meaning: 'bearer token of the script-run routes',
  }),
  runPause: setting({
    env: 'RUN_PAUSE',
    file: 'runs.pause',
    kind: duration('0s', '1d'),
    default: '60s',
    meaning: 'minimum time between two runs of one script',
  }),
  updateSchedule: setting({
    env: 'UPDATE_SCHEDULE',
    file: 'runs.schedule',
    kind: schedule(scripts.map(({ name }) => name)),
    otherwise: 'daily between 03:00 and 03:15 UTC, for configured scripts',
    meaning: 'when the update scripts run',
  }),
} as const

/** Settings of the update scripts. */
const updateScripts = {
  projectsConfig: setting({
    env: 'PROJECTS_CONFIG',
    file: 'runs.projectsConfig',
    kind: text,
    otherwise: 'projects.config.json in DATA_DIR',
    meaning: 'file with your list of projects',
  }),
  redditClientId: setting({ env: 'REDDIT_CLIENT_ID', kind: text, meaning: 'Reddit application id, for kcomebacks' }),
  redditClientSecret: setting({ env: 'REDDIT_CLIENT_SECRET', kind: text, secret: true, meaning: 'Reddit application secret' }),
  githubToken: setting({
    env: 'GITHUB_TOKEN',
    kind: text,
    secret: true,
    meaning: 'GitHub token, for projects (raises the rate limit)',
  }),
  spotifyClientId: setting({ env: 'SPOTIFY_CLIENT_ID', kind: text, meaning: 'Spotify application id, for likedsongs' }),
  spotifyClientSecret: setting({ env: 'SPOTIFY_CLIENT_SECRET', kind: text, secret: true, meaning: 'Spotify application secret' }),
  spotifyRefreshToken: setting({
    env: 'SPOTIFY_REFRESH_TOKEN',
    kind: text,
    secret: true,
    meaning: 'from: tickwarden authorise spotify',
  }),
  lastfmApiKey: setting({ env: 'LASTFM_API_KEY', kind: text, secret: true, meaning: 'Last.fm API key, for likedsongs' }),
  lastfmApiSecret: setting({ env: 'LASTFM_API_SECRET', kind: text, secret: true, meaning: 'Last.fm API secret' }),
  lastfmSessionKey: setting({
    env: 'LASTFM_SESSION_KEY',
    kind: text,
    secret: true,
    meaning: 'from: tickwarden authorise lastfm',
  }),
  redditAuthUrl: setting({
    env: 'REDDIT_AUTH_URL',
    kind: upstream,
    default: 'https://www.reddit.com',
    meaning: 'base URL of Reddit’s token service and public pages',
  }),
  redditApiUrl: setting({
    env: 'REDDIT_API_URL',
    kind: upstream,
    default: 'https://oauth.reddit.com',
    meaning: 'base URL of Reddit’s API',
  }),
  githubApiUrl: setting({
    env: 'GITHUB_API_URL',
    kind: upstream,
    default: 'https://api.github.com',
    meaning: 'base URL of GitHub’s API',
  }),
  spotifyAccountsUrl: setting({
    env: 'SPOTIFY_ACCOUNTS_URL',
    kind: upstream,
    default: 'https://accounts.spotify.com',
    meaning: 'base URL of Spotify’s accounts service',
  }),
  spotifyApiUrl: setting({
    env: 'SPOTIFY_API_URL',
    kind: upstream,
    default: 'https://api.spotify.com',
    meaning: 'base URL of Spotify’s API',
  }),
  lastfmApiUrl: setting({
    env: 'LASTFM_API_URL',
    kind: upstream,
    default: 'https://ws.audioscrobbler.com',
    meaning: 'base URL of Last.fm’s API',
  }),
} as const

/** Metrics and probes. */
const metrics = {
  metricsListen: setting({
    env: 'METRICS_LISTEN',
    file: 'metrics.listen',
    kind: hostPort(),
    otherwise: 'the service’s own',
    meaning: 'separate listen address for metrics',
  }),
  metricsToken: setting({
    env: 'METRICS_TOKEN',
    file: 'metrics.token',
    kind: bearerToken,
    secret: true,
    meaning: 'bearer token for metrics',
  }),
  probeAllow: setting({
    env: 'PROBE_ALLOW',
    file: 'probe.allow',
    kind: list(hostPattern),
    otherwise: 'configured servers only',
    meaning: 'host patterns and CIDR ranges that /probe may reach',
  }),
  probeConcurrency: setting({
    env: 'PROBE_CONCURRENCY',
    file: 'probe.concurrency',
    kind: integer(1, 10_000),
    default: '64',
    meaning: 'maximum number of concurrent probes; further ones get 503',
  }),
  compat: setting({
    env: 'COMPAT',
    file: 'compat',
    kind: list(oneOf('mc-monitor')),
    default: '',
    meaning: 'additional metric names of another exporter: mc-monitor',
  }),
} as const

/** The history of the servers. */
const history = {
  historyDir: setting({
    env: 'HISTORY_DIR',
    file: 'history.dir',
    kind: text,
    otherwise: 'history in DATA_DIR; without DATA_DIR in memory only',
    meaning: 'folder for the recorded history',
  }),
} as const

/** The event streams. */
const live = {
  eventsLimit: setting({
    env: 'EVENTS_LIMIT',
    file: 'events.limit',
    kind: integer(1, 100_000),
    default: '1000',
    meaning: 'maximum number of clients of /api/v1/events; further ones get 503',
  }),
} as const

const pictures = {
  headsUrl: setting({
    env: 'HEADS_URL',
    file: 'pictures.headsUrl',
    kind: headsUrl,
    otherwise: 'patterns generated from the UUIDs',
    meaning: 'URL of player heads, with {uuid} and optionally {size}',
  }),
} as const

const page = {
  pageTitle: setting({
    env: 'PAGE_TITLE',
    file: 'page.title',
    kind: text,
    default: 'Tickwarden',
    meaning: 'title of the status page',
  }),
  pagePublic: setting({
    env: 'PAGE_PUBLIC',
    file: 'page.public',
    kind: oneOf('true', 'false'),
    default: 'true',
    meaning: 'false: the status page hides addresses, player names and sources',
  }),
} as const

/** The state that replicas share, and the processes of one replica. */
const cluster = {
  stateUrl: setting({
    env: 'STATE_URL',
    file: 'state.url',
    kind: stateAddress,
    otherwise: 'none: one replica',
    meaning: 'Redis or Valkey server through which replicas share the work',
  }),
  statePassword: setting({
    env: 'STATE_PASSWORD',
    file: 'state.password',
    kind: text,
    secret: true,
    otherwise: 'the password in STATE_URL',
    meaning: 'password of the Redis or Valkey server',
  }),
  statePrefix: setting({
    env: 'STATE_PREFIX',
    file: 'state.prefix',
    kind: keyPrefix,
    default: 'tickwarden',
    meaning: 'prefix of all keys; replicas with the same prefix share the work',
  }),
  stateHeartbeat: setting({
    env: 'STATE_HEARTBEAT',
    file: 'state.heartbeat',
    kind: duration('200ms', '1m'),
    default: '5s',
    meaning: 'heartbeat interval; after two intervals without one, other replicas take over the servers of a replica',
  }),
  workers: setting({
    env: 'WORKERS',
    file: 'workers',
    kind: integer(1, 64),
    default: '1',
    meaning: 'number of processes that answer HTTP requests; if more than 1, another process polls the servers',
  }),
} as const

/** HTTP settings of all routes. */
const http = {
  basePath: setting({
    env: 'BASE_PATH',
    file: 'http.basePath',
    kind: basePath,
    default: '/',
    meaning: 'path under which a reverse proxy serves everything, such as /mc',
  }),
  trustProxy: setting({
    env: 'TRUST_PROXY',
    file: 'http.trustProxy',
    kind: list(proxyRange),
    default: '',
    meaning: 'reverse proxies whose X-Forwarded-Prefix, -Proto and -Host are trusted: loopback, addresses, CIDR ranges',
  }),
  corsOrigin: setting({
    env: 'CORS_ORIGIN',
    file: 'cors.origin',
    kind: origin,
    default: '*',
    meaning: 'origin whose pages may read the API',
  }),
} as const

const log = {
  logLevel: setting({
    env: 'LOG_LEVEL',
    file: 'log.level',
    kind: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    meaning: 'log level',
  }),
} as const

/** The settings of the service by the part that uses them: each part receives its own slice of the configuration. */
export const slices = {
  listen,
  poll,
  discovery: discoverySettings,
  data,
  runs,
  scripts: updateScripts,
  metrics,
  history,
  live,
  pictures,
  page,
  cluster,
  http,
  log,
} as const
export type Slices = { readonly [S in keyof typeof slices]: SliceOf<(typeof slices)[S]> }

/** The settings of the service itself. */
export const settings = {
  ...listen,
  ...poll,
  ...discoverySettings,
  ...data,
  ...runs,
  ...updateScripts,
  ...metrics,
  ...history,
  ...live,
  ...pictures,
  ...page,
  ...cluster,
  ...http,
  ...log,
} as const
export type SettingName = keyof typeof settings
/** The values read; undefined also for a wrong setting. */
export type SettingValues = ValuesOf<typeof settings>

const descriptors: readonly SourceDescriptor[] = sources

/** Every setting of one game server: its own, then those of each source. */
export const settingsOfServer: readonly Setting<unknown>[] = [
  ...Object.values(serverSettings),
  ...descriptors.flatMap((source) => Object.values(settingsOf(source))),
]

/** Every setting: the loader, `--help` and the documentation are generated from this list. */
export const allSettings: readonly Setting<unknown>[] = [...settingsOfServer, ...Object.values(settings)]
