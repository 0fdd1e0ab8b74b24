/** The name of every update script. */
export const scriptNames = ['kcomebacks', 'projects', 'likedsongs'] as const
export type ScriptName = (typeof scriptNames)[number]
