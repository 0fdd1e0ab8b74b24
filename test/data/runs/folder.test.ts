import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runUpdate } from '../../../src/commands/update.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { DataDirError, openFolder } from '../../../src/data/runs/folder.ts'
import { archiveOf, type FakeReddit, startFakeReddit, tableOf } from '../../helpers/fake-reddit.ts'
import { isSupported } from '../../helpers/require-tool.ts'

let folder: string
let reddit: FakeReddit
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-folder-'))
  reddit = await startFakeReddit()
  reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february']))
  reddit.pages.set('upcoming-releases/2024/february', tableOf('|2nd|18:00|*B*|*b*|Single||'))
})
afterEach(() => {
  reddit.close()
  rmSync(folder, { recursive: true })
})

async function update(dryRun: boolean) {
  let output = ''
  const stream = {
    write(text: string) {
      output += text
      return true
    },
  }
  const env = {
    ...{ DATA_DIR: folder, REDDIT_AUTH_URL: reddit.url, REDDIT_API_URL: reddit.url },
    ...{ REDDIT_CLIENT_ID: reddit.id, REDDIT_CLIENT_SECRET: reddit.secret },
  }
  const code = await runUpdate({ script: 'kcomebacks', full: false, force: false, dryRun }, loadConfig({ env }), {
    ...{ stdout: stream, stderr: stream, signal: new AbortController().signal },
  })
  return { code, output }
}

describe('DATA_DIR', () => {
  it
    .skipIf(!isSupported(platform() === 'linux', 'only Linux has /proc'))
    .each(['/proc', '/proc/none', '/proc/none/deeper', '/proc/self/none'])('is refused at once as %s', async (path) => {
    await expect(openFolder(path, false)).rejects.toThrow(DataDirError)
  })

  it('is created with its parents, and left empty', async () => {
    const path = join(folder, 'a', 'b', 'c')
    expect(await openFolder(path, true)).toBe(false)
    expect(await openFolder(path, false)).toBe(true)
    expect(await openFolder(path, false)).toBe(true)
    expect(readdirSync(path)).toEqual([])
  })

  it('is refused if it is a file or below one', async () => {
    writeFileSync(join(folder, 'file'), '')
    await expect(openFolder(join(folder, 'file'), false)).rejects.toThrow(/cannot be created \(EEXIST\)/)
    await expect(openFolder(join(folder, 'file', 'b'), false)).rejects.toThrow(/cannot be created \(ENOTDIR\)/)
  })

  it('may be read-only in a dry run', async () => {
    // Root may write to any folder, but not to a file system that is mounted read-only.
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=16k', 'tmpfs', folder]).status === 0
    if (!mounted) chmodSync(folder, 0o555)
    try {
      expect(await update(true)).toMatchObject({ code: 0, output: expect.stringContaining('Dry run: nothing was changed.') })
      expect(await update(false)).toMatchObject({ code: 1, output: expect.stringContaining('cannot be written to') })
    } finally {
      if (mounted) spawnSync('umount', ['-l', folder])
      else chmodSync(folder, 0o755)
    }
  })
})
