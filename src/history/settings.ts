import { integer, oneOf, text } from '../settings/kinds/index.ts'
import { setting } from '../settings/setting.ts'

/** The history of the servers. */
export const history = {
  historyDir: setting({
    env: 'HISTORY_DIR',
    file: 'history.dir',
    kind: text,
    otherwise: 'DATA_DIR; without DATA_DIR in memory only',
    meaning: 'folder of the history (history.db), notifications and maintenance',
  }),
  historyDays: setting({
    env: 'HISTORY_DAYS',
    file: 'history.days',
    kind: integer(1, 4000),
    default: '400',
    meaning: 'number of days for which the daily values, player sessions and changes of state are kept',
  }),
  historyPlayers: setting({
    env: 'HISTORY_PLAYERS',
    file: 'history.players',
    kind: oneOf('true', 'false'),
    default: 'true',
    meaning: 'false: no player sessions are recorded, and those recorded earlier are not read',
  }),
} as const

export interface FolderSettings {
  readonly historyDir: string | undefined
  readonly dataDir: string | undefined
}

/**
 * The folder of the history, notifications and maintenance. There is no other default: the packaged sample data belong to the installation,
 * and a temporary folder would only seem to be persistent.
 */
export const stateFolderOf = ({ historyDir, dataDir }: FolderSettings): string | undefined => historyDir ?? dataDir
