import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { readPage } from './markdown.ts'

it('the example of the library runs unchanged', async () => {
  const demo = await startDemoServer({ rconPassword: 'secret', scenario: 'steady', players: 2 })
  onTestFinished(() => demo.close())
  const [example] = readPage('docs/library.md').blocks.filter(({ language }) => language === 'js')
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-library-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '..', '..'), join(folder, 'node_modules', 'tickwarden'))
  const rcon = `rcon: { address: '127.0.0.1:${demo.rcon.address.port}', password`
  const script = example!.text
    .replaceAll('mc.example.org', `127.0.0.1:${demo.address.port}`)
    .replace('rcon: { password', rcon)
    .replace('interval: 5000', 'interval: 500')
  writeFileSync(join(folder, 'example.mjs'), script)
  const child = spawn(process.execPath, ['example.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (/^true \d/.test(line)) break
  }
  expect(lines[0]).toBe('Tickwarden demo server 2 of 20')
  expect(lines.at(-1)).toMatch(/^true 0\.\d+$/)
})
