import { baseUrl, text } from '../../settings/kinds/index.ts'
import { setting } from '../../settings/setting.ts'

const plain = (env: string, meaning: string) => setting({ env, kind: text, meaning })
const secret = (env: string, meaning: string) => setting({ env, kind: text, secret: true, meaning })
const upstream = (env: string, url: string, service: string) =>
  setting({ env, kind: baseUrl('https:', 'http:'), default: url, meaning: `base URL of ${service}` })

export const updateScripts = {
  projectsConfig: setting({
    env: 'PROJECTS_CONFIG',
    file: 'runs.projectsConfig',
    kind: text,
    otherwise: 'projects.config.json in DATA_DIR',
    meaning: 'file with your list of projects',
  }),
  redditClientId: plain('REDDIT_CLIENT_ID', 'Reddit application id, for kcomebacks'),
  redditClientSecret: secret('REDDIT_CLIENT_SECRET', 'Reddit application secret'),
  githubToken: secret('GITHUB_TOKEN', 'GitHub token, for projects (raises the rate limit)'),
  spotifyClientId: plain('SPOTIFY_CLIENT_ID', 'Spotify application id, for likedsongs'),
  spotifyClientSecret: secret('SPOTIFY_CLIENT_SECRET', 'Spotify application secret'),
  spotifyRefreshToken: secret('SPOTIFY_REFRESH_TOKEN', 'from: tickwarden authorise spotify'),
  lastfmApiKey: secret('LASTFM_API_KEY', 'Last.fm API key, for likedsongs'),
  lastfmApiSecret: secret('LASTFM_API_SECRET', 'Last.fm API secret'),
  lastfmSessionKey: secret('LASTFM_SESSION_KEY', 'from: tickwarden authorise lastfm'),
  redditAuthUrl: upstream('REDDIT_AUTH_URL', 'https://www.reddit.com', 'Reddit’s token service and public pages'),
  redditApiUrl: upstream('REDDIT_API_URL', 'https://oauth.reddit.com', 'Reddit’s API'),
  githubApiUrl: upstream('GITHUB_API_URL', 'https://api.github.com', 'GitHub’s API'),
  spotifyAccountsUrl: upstream('SPOTIFY_ACCOUNTS_URL', 'https://accounts.spotify.com', 'Spotify’s accounts service'),
  spotifyApiUrl: upstream('SPOTIFY_API_URL', 'https://api.spotify.com', 'Spotify’s API'),
  lastfmApiUrl: upstream('LASTFM_API_URL', 'https://ws.audioscrobbler.com', 'Last.fm’s API'),
} as const
