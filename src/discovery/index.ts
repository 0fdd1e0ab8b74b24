import { bungeecord } from './providers/bungeecord.ts'
import { configFile } from './providers/config-file.ts'
import { fileSd } from './providers/file-sd.ts'
import { folder } from './providers/folder.ts'
import { httpSd } from './providers/http-sd.ts'
import { kubernetes } from './providers/kubernetes.ts'
import { mcRouter } from './providers/mc-router.ts'
import { velocity } from './providers/velocity.ts'

/** Every provider, in the order of their servers. If two servers have the same name, the first one is watched. */
export const providers = [configFile, folder, fileSd, httpSd, kubernetes, velocity, bungeecord, mcRouter] as const
