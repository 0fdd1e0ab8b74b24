import { baseUrl, text } from '../../settings/kinds/index.ts'
import { setting } from '../../settings/setting.ts'

const upstream = baseUrl('https:', 'http:')

/** Settings of the update scripts. */
export const updateScripts = {
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
