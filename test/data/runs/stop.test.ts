import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../helpers/until.ts'
import { type FakeGithub, fakeGithub } from '../scripts/projects/fake-github.ts'

const main = join(import.meta.dirname, '..', '..', '..', 'dist', 'src', 'main.js')

let github: FakeGithub
let folder: string
let child: ChildProcess | undefined

beforeEach(async () => {
  github = await fakeGithub()
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  writeFileSync(join(folder, 'projects.config.json'), JSON.stringify([{ title: 'A', gh_api: 'someone/a' }]))
  github.replies.set('/repos/someone/a', (_request: unknown, response: import('node:http').ServerResponse) =>
    response
      .writeHead(429, { 'content-type': 'application/json', 'retry-after': '14' })
      .end('{"message":"You have exceeded a secondary rate limit"}'),
  )
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await github.close()
  rmSync(folder, { recursive: true })
})

function run(...args: readonly string[]) {
  const env = { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: folder, GITHUB_API_URL: github.url, UPDATE_SCHEDULE: 'off' }
  const started = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  child = started
  let output = ''
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const exit = new Promise<number | null>((resolve) => started.once('close', resolve))
  return { child: started, output: () => output, exit }
}

const recorded = () => JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8')).runs

// Each ends within the pause of the upstream, after which another request would follow.
describe('a run that waits for the upstream', () => {
  it('ends with the service, and is recorded', async () => {
    const { child, output, exit } = run()
    await until(() => /listens on (http:\/\/[\w.:]+)/.test(output()))
    const url = /listens on (http:\/\/[\w.:]+)/.exec(output())?.[1]
    expect((await fetch(`${url}/v1/run/projects`)).status).toBe(200)
    await until(() => github.log.length === 1)
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(github.log).toHaveLength(1)
    expect(recorded()).toMatchObject([{ script: 'projects', outcome: 'failed', errors: ['stopped'] }])
    expect(existsSync(join(folder, '.projects.lock'))).toBe(false)
  })

  it('ends at Ctrl+C, and is recorded', async () => {
    const { child, output, exit } = run('update', 'projects')
    await until(() => github.log.length === 1)
    child.kill('SIGINT')
    expect(await exit).toBe(1)
    expect(github.log).toHaveLength(1)
    expect(output()).toContain('stopped')
    expect(recorded()).toMatchObject([{ script: 'projects', trigger: 'command', errors: ['stopped'] }])
    expect(existsSync(join(folder, '.projects.lock'))).toBe(false)
  })
})
