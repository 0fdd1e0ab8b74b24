import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bundleChild } from '../../../helpers/bundle-child.ts'
import { fakeMusic, secrets, songs, titles } from './fake-music.ts'

const count = process.env.LONG_TESTS === '1' ? 10_000 : 200
it(`resumes ${count} liked songs after kills, repeating at most the song in flight, in bounded memory`, {
  timeout: 300_000,
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tickwarden-songs-'))
  const music = await fakeMusic(songs(count))
  const program = await bundleChild(join(import.meta.dirname, 'run-once.ts'))
  const start = () => {
    const child = spawn(process.execPath, [program, dataDir], {
      env: { PATH: process.env.PATH ?? '', ...music.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
    })
    return { child, ended: new Promise<string>((resolve) => child.once('close', () => resolve(output))) }
  }
  const kills = [0.0001, 0.07, 0.25, 0.6].map((share) => Math.ceil(share * count))
  for (const least of kills) {
    const { child, ended } = start()
    music.intercept = (path) => {
      if (path.startsWith('/lastfm') && music.loved.length >= least) child.kill('SIGKILL')
      return false
    }
    await ended
  }
  music.intercept = () => false
  const last = JSON.parse(await start().ended) as { outcome: string; peakMegabytes: number }
  expect(last.outcome).toBe('done')
  expect(last.peakMegabytes).toBeLessThan(400)
  expect(new Set(music.loved).size).toBe(count)
  expect(music.loved.length - count).toBeLessThanOrEqual(kills.length)
  expect([...new Set(music.loved)]).toEqual(titles(1, count))
  await music.close()
  const files = readdirSync(dataDir).map((file) => readFileSync(join(dataDir, file), 'utf8'))
  for (const secret of Object.values(secrets)) expect(files.join('\n')).not.toContain(secret)
  rmSync(dataDir, { recursive: true })
})
