import type { RunContext, Script, ScriptSettingName, ScriptSettings } from '../script.ts'

const needed = [
  'spotifyClientId',
  'spotifyClientSecret',
  'spotifyRefreshToken',
  'lastfmApiKey',
  'lastfmApiSecret',
  'lastfmSessionKey',
] as const satisfies readonly ScriptSettingName[]

/** Loves on Last.fm every song that is liked on Spotify, oldest first. Never unloves one. */
export const likedSongs = {
  name: 'likedsongs',
  route: '/v1/run/synclikedsongs',
  summary: 'Start the sync of liked songs',
  parts: 'songs',
  missingSettings: (settings: ScriptSettings) => needed.filter((name) => settings[name] === undefined),
  // Its required settings configure it: without them it is not scheduled.
  isConfigured: () => true,
  async readState({ spotifyRefreshToken }: ScriptSettings, dataDir: string) {
    const [{ readAuthorisation }, { describeSetAside, journalPath, readSetAside }] = await Promise.all([
      import('./authorisation.ts'),
      import('./journal.ts'),
    ])
    const songs = await readSetAside(journalPath(dataDir))
    return {
      setAside: songs.map(describeSetAside),
      authorisationExpires:
        spotifyRefreshToken === undefined ? undefined : (await readAuthorisation(dataDir, spotifyRefreshToken)).expires,
    }
  },
  run: async (context: RunContext) => (await import('./script.ts')).runLikedSongs(context),
} as const satisfies Script
