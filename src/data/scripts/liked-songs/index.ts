import type { SettingName } from '../../../config/settings.ts'
import type { Script } from '../script.ts'

const needed = [
  'spotifyClientId',
  'spotifyClientSecret',
  'spotifyRefreshToken',
  'lastfmApiKey',
  'lastfmApiSecret',
  'lastfmSessionKey',
] as const satisfies readonly SettingName[]

/** Loves every song that is liked on Spotify on Last.fm too, oldest first. Never unloves one. */
export const likedSongs: Script = {
  name: 'likedsongs',
  route: '/v1/run/synclikedsongs',
  summary: 'Start the sync of liked songs',
  parts: 'songs',
  missingSettings: (settings) => needed.filter((name) => settings[name] === undefined),
  // A script whose settings are missing is not scheduled at all.
  isConfigured: () => true,
  newest: ({ lastSuccess }) => lastSuccess(),
  async readState({ spotifyRefreshToken }, dataDir) {
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
  run: async (context) => (await import('./script.ts')).createLikedSongsScript().run(context),
}
