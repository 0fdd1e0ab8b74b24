import { afterEach, describe, expect, it, vi } from 'vitest'
import { nextTime, schedule } from '../../../src/data/runs/schedule-setting.ts'

const { parse } = schedule(['projects', 'likedsongs'])

describe('UPDATE_SCHEDULE', () => {
  it.each([
    [' off ', { projects: 'off', likedsongs: 'off' }],
    [' 0 3 * * 1 ', { projects: '0 3 * * 1', likedsongs: '0 3 * * 1' }],
    ['projects=off', { projects: 'off' }],
    ['; projects = 30 5 * * * ; ;likedsongs=off;', { projects: '30 5 * * *', likedsongs: 'off' }],
  ])('"%s" is %j', (given, expected) => {
    expect(parse(given)).toEqual(expected)
  })

  it.each([
    '',
    'soon',
    '0 3 * *',
    '0 0 30 2 *',
    '=',
    '=off',
    'projects=',
    'projects=soon',
    'projects=off=off',
    'projects=off;likedsongs',
    'other=off',
    'projects=off;other=off',
  ])('"%s" is not valid', (given) => {
    expect(parse(given)).toBeUndefined()
  })
})

describe('the next time of a cron expression', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it('is in UTC, whatever the time zone of the machine', () => {
    vi.stubEnv('TZ', 'Asia/Seoul')
    expect(nextTime('0 3 * * *', Date.UTC(2026, 0, 15, 2, 59))).toBe(Date.UTC(2026, 0, 15, 3))
    expect(nextTime('0 3 * * *', Date.UTC(2026, 0, 15, 3))).toBe(Date.UTC(2026, 0, 16, 3))
  })

  it('is undefined if it never occurs', () => {
    expect(nextTime('0 0 30 2 *', 0)).toBeUndefined()
  })
})
