/** The music services that liked songs are read from. */
export const musicServices = ['spotify', 'lastfm'] as const
export type MusicService = (typeof musicServices)[number]
