import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readAuthorisation, storeGrant, storeNewToken } from '../../../../src/data/scripts/liked-songs/authorisation.ts'

let dataDir: string
let file: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-authorisation-'))
  file = join(dataDir, 'spotify-refresh-token.json')
})
afterEach(() => rm(dataDir, { recursive: true }))

const stored = async () => JSON.parse(await readFile(file, 'utf8'))
/** SHA-256 of `first`, by sha256sum and base64. */
const ofFirst = 'p5N7ZLjKpY8Dchu2us9ceMsjX-vg5wsbhM2ZVBRhoI4'

it('is the token in the settings if nothing is stored', async () => {
  expect(await readAuthorisation(dataDir, 'first')).toEqual({ refreshToken: 'first', expires: undefined })
  expect(await readdir(dataDir)).toEqual([])
})

it.each([
  ['2026-01-15T10:20:30.400Z', '2026-07-15T10:20:30.400Z'],
  ['2026-07-15T00:00:00.000Z', '2027-01-15T00:00:00.000Z'],
  ['2026-08-31T12:00:00.000Z', '2027-02-28T12:00:00.000Z'],
  ['2027-08-29T12:00:00.000Z', '2028-02-29T12:00:00.000Z'],
  ['2026-03-31T12:00:00.000Z', '2026-09-30T12:00:00.000Z'],
  ['2026-03-01T12:00:00.000Z', '2026-09-01T12:00:00.000Z'],
])('that is granted at %s expires at %s', async (granted, expires) => {
  await storeGrant(dataDir, 'first', Date.parse(granted))
  expect(await stored()).toEqual({ of: expect.stringMatching(/^[\w-]{43}$/), granted: Date.parse(granted) })
  expect(await readAuthorisation(dataDir, 'first')).toEqual({ refreshToken: 'first', expires: Date.parse(expires) })
})

it('is the token that was issued instead, with the time of the grant, readable by its owner only', async () => {
  await storeGrant(dataDir, 'first', 0)
  await storeNewToken(dataDir, 'first', 'second')
  await storeNewToken(dataDir, 'first', 'third')
  expect(await stored()).toEqual({ of: ofFirst, granted: 0, refreshToken: 'third' })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readAuthorisation(dataDir, 'first')).toEqual({ refreshToken: 'third', expires: Date.UTC(1970, 6, 1) })
  expect(await readdir(dataDir)).toEqual(['spotify-refresh-token.json'])
})

it('is that of the settings if it was changed since', async () => {
  await storeGrant(dataDir, 'first', 0)
  await storeNewToken(dataDir, 'first', 'second')
  expect(await readAuthorisation(dataDir, 'other')).toEqual({ refreshToken: 'other', expires: undefined })
  await storeNewToken(dataDir, 'other', 'third')
  expect(await readAuthorisation(dataDir, 'other')).toEqual({ refreshToken: 'third', expires: undefined })
  expect(await stored()).not.toHaveProperty('granted')
})

it.each(['', '{', '{}', '{"of":5}', `{"of":"${ofFirst}","granted":"1"}`])(
  'is that of the settings if the file has %j',
  async (text) => {
    await writeFile(file, text)
    expect(await readAuthorisation(dataDir, 'first')).toEqual({ refreshToken: 'first', expires: undefined })
    await storeNewToken(dataDir, 'first', 'second')
    expect(await stored()).toEqual({ of: ofFirst, refreshToken: 'second' })
  },
)
