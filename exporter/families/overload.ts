import { counter, type ServerFamily } from './family.ts'

export const overload: readonly ServerFamily[] = [
  counter(
    'minecraft_overload_warnings_total',
    'Warnings in the server log that the server cannot keep up, since the service started reading the log.',
    ({ fields }, add) => add(fields.overloadWarnings?.value),
    { perPoll: false },
  ),
  counter(
    'minecraft_overload_skipped_ticks_total',
    'Ticks that the server fell behind, according to these warnings.',
    ({ fields }, add) => add(fields.overloadSkippedTicks?.value),
    { perPoll: false },
  ),
]
