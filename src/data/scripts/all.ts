import { kcomebacksScript } from './kcomebacks/script.ts'
import { createLikedSongsScript } from './liked-songs/script.ts'
import { createProjectsScript } from './projects/script.ts'
import type { Script } from './script.ts'

/** Every update script there is. */
export const allScripts: readonly Script[] = [kcomebacksScript, createProjectsScript(), createLikedSongsScript()]
