import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { openJournal } from '../../src/data/scripts/liked-songs/journal.ts'
import { bundleChild } from '../helpers/bundle-child.ts'

const kills = process.env.LONG_TESTS === '1' ? 50 : 5
const source = join(import.meta.dirname, '../../src')

/** Runs a program that prints the number of each thing that it has stored, and kills it in one of the next turns after some of them. */
async function killAfter(program: string, args: readonly string[], kill: number): Promise<number> {
  const running = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const over = once(running, 'exit')
  let [stored, count] = [0, 0]
  for await (const line of createInterface(running.stdout)) {
    stored = Number(line)
    if (++count < 3 + (kill % 5)) continue
    for (let turn = 0; turn < kill; turn++) await new Promise((resolve) => setImmediate(resolve))
    running.kill('SIGKILL')
  }
  await over
  return stored
}

/** @param code the body of a loop that stores the number `count` */
function bundle(imports: string, code: string): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'tickwarden-kill-')), 'child.mjs')
  writeFileSync(
    file,
    `import { writeSync } from 'node:fs'\n${imports}
    const [path, first] = process.argv.slice(2)
    for (let count = Number(first); ; count++) { ${code}; writeSync(1, count + '\\n') }`,
  )
  return bundleChild(file)
}

it(`a file that a process replaces is whole whenever it is killed, ${kills} times`, async () => {
  const text = 'String(count).padStart(9).repeat(30_000)'
  const program = await bundle(`import { writeAtomic } from '${source}/util/files.ts'`, `await writeAtomic(path, ${text})`)
  const file = join(mkdtempSync(join(tmpdir(), 'tickwarden-kill-')), 'file')
  for (let [kill, stored] = [0, 0]; kill < kills; kill++) {
    stored = await killAfter(program, [file, String(stored + 1)], kill)
    const found = readFileSync(file, 'latin1')
    expect([stored, stored + 1]).toContain(Number(found.slice(0, 9)))
    expect(found).toBe(found.slice(0, 9).repeat(30_000))
  }
})

it(`a journal has every song that was stored whenever its process is killed, ${kills} times`, async () => {
  const program = await bundle(
    `import { openJournal } from '${source}/data/scripts/liked-songs/journal.ts'`,
    "globalThis.journal ??= await openJournal(path, 'account'); await journal.addLoved({ id: 's' + count, title: 'T', artist: 'A' })",
  )
  const file = join(mkdtempSync(join(tmpdir(), 'tickwarden-kill-')), 'likedsongs.jsonl')
  for (let [kill, stored] = [0, 0]; kill < kills; kill++) {
    stored = await killAfter(program, [file, String(stored + 1)], kill)
    const { ids } = await openJournal(file, 'account')
    for (let count = 1; count <= stored; count++) expect(ids).toContain(`s${count}`)
    expect(ids.size).toBeLessThanOrEqual(stored + 1)
    stored = ids.size
  }
})
