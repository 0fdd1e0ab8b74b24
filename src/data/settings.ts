import { bearerToken, duration, fileOrUrl, oneOf, text } from '../settings/kinds/index.ts'
import { type SliceOf, setting } from '../settings/setting.ts'
import { schedule } from './runs/schedule-setting.ts'
import { scriptNames } from './scripts/names.ts'

/** The databases of the data service. */
export const data = {
  dataDir: setting({
    env: 'DATA_DIR',
    file: 'data.dir',
    kind: text,
    otherwise: 'the packaged sample data',
    meaning: 'folder of projects.json and kcomebacks.json',
  }),
  projectsSnapshot: setting({
    env: 'PROJECTS_SNAPSHOT',
    file: 'data.projects',
    kind: fileOrUrl,
    otherwise: 'projects.json in DATA_DIR',
    meaning: 'file or https:// URL of the projects',
  }),
  kcomebacksSnapshot: setting({
    env: 'KCOMEBACKS_SNAPSHOT',
    file: 'data.kcomebacks',
    kind: fileOrUrl,
    otherwise: 'kcomebacks.json in DATA_DIR',
    meaning: 'file or https:// URL of the comebacks',
  }),
  dataRefresh: setting({
    env: 'DATA_REFRESH',
    file: 'data.refresh',
    kind: duration('1s', '1d'),
    default: '5m',
    meaning: 'time between requests to a snapshot URL',
  }),
  dataOnly: setting({
    env: 'DATA_ONLY',
    file: 'data.only',
    kind: oneOf('true', 'false'),
    default: 'false',
    meaning: 'true: serve only the databases; without a configured server, none is watched',
  }),
} as const
export type DataSettings = SliceOf<typeof data>

/** Schedule and protection of the update scripts. */
export const runs = {
  runToken: setting({
    env: 'RUN_TOKEN',
    file: 'runs.token',
    kind: bearerToken,
    secret: true,
    meaning: 'bearer token of the script-run routes',
  }),
  runPause: setting({
    env: 'RUN_PAUSE',
    file: 'runs.pause',
    kind: duration('0s', '1d'),
    default: '60s',
    meaning: 'minimum time between two runs of one script',
  }),
  updateSchedule: setting({
    env: 'UPDATE_SCHEDULE',
    file: 'runs.schedule',
    kind: schedule(scriptNames),
    otherwise: 'daily between 03:00 and 03:15 UTC, for configured scripts',
    meaning: 'when the update scripts run',
  }),
} as const
export type RunSettings = SliceOf<typeof runs>
