import { expect, it } from 'vitest'
import { formatDuration } from '../../src/util/format-duration.ts'

it.each([
  [0, '0 s'],
  [47.6, '48 s'],
  [89, '89 s'],
  [90, '2 min'],
  [5_369, '89 min'],
  [5_400, '1 h 30 min'],
  [7_200, '2 h'],
  [7_500, '2 h 5 min'],
  [172_740, '47 h 59 min'],
  [172_800, '2 d'],
  [273_600, '3 d 4 h'],
])('%s seconds are %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text))
