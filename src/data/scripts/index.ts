import { kcomebacks } from './kcomebacks/index.ts'
import { likedSongs } from './liked-songs/index.ts'
import type { ScriptName } from './names.ts'
import { projects } from './projects/index.ts'
import type { Script } from './script.ts'

/** Every update script. Its implementation is loaded when it runs. */
export const scripts: readonly (Script & { readonly name: ScriptName })[] = [kcomebacks, projects, likedSongs]
