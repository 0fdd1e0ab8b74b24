export const scriptNames = ['kcomebacks', 'projects', 'likedsongs'] as const
export type ScriptName = (typeof scriptNames)[number]

/** The music services that liked songs are read from. */
export const musicServices = ['spotify', 'lastfm'] as const
export type MusicService = (typeof musicServices)[number]
