import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundleChild } from '../../helpers/bundle-child.ts'
import { isSupported } from '../../helpers/require-tool.ts'
import { until } from '../../helpers/until.ts'

const [holderId, otherId] = [65534, 65533]

/** A command line that runs another one as the other user, where /proc shows only that user's processes. */
const hidden = (...command: readonly string[]): [string, string[]] => {
  const asOther = `exec setpriv --reuid=${otherId} --regid=${otherId} --clear-groups "$@"`
  const inMount = ['--mount', '--propagation', 'private', 'sh', '-c', `mount -t proc -o hidepid=2 proc /proc && ${asOther}`, 'sh']
  return ['unshare', [...inMount, ...command]]
}

// The process of root that runs this must be invisible there.
const probe = spawnSync(...hidden('test', '!', '-e', `/proc/${process.pid}`))
const canHide = isSupported(probe.status === 0, 'only root can mount /proc with hidepid=2')

describe.skipIf(!canHide)('the lock of another user under hidepid=2', () => {
  let program: string
  let folder: string
  const children = new Set<ChildProcessWithoutNullStreams>()

  beforeAll(async () => {
    program = await bundleChild(join(import.meta.dirname, '../../helpers/lock-child.ts'))
    chmodSync(dirname(program), 0o755)
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
    chmodSync(folder, 0o777)
  })
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL')
    children.clear()
    rmSync(folder, { recursive: true })
  })

  function control(child: ChildProcessWithoutNullStreams) {
    children.add(child)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return {
      async send(command: string): Promise<unknown> {
        child.stdin.write(`${command}\n`)
        return (await lines.next()).value
      },
      async kill(): Promise<void> {
        child.kill('SIGKILL')
        await once(child, 'exit')
      },
    }
  }
  const startHolder = () => control(spawn(process.execPath, [program, folder], { uid: holderId, gid: holderId, cwd: folder }))
  const startOther = () => {
    const [command, args] = hidden(process.execPath, program, folder)
    return control(spawn(command, args, { cwd: folder }))
  }
  const lockFile = () => join(folder, '.runs.lock')
  const heartbeat = () => statSync(lockFile()).mtimeMs

  it('is not taken while its holder lives, and at once when it is dead', async () => {
    const [holder, other] = [startHolder(), startOther()]
    expect(await holder.send('take')).toBe('taken')
    expect(statSync(lockFile()).uid).toBe(holderId)
    expect(JSON.parse(readFileSync(lockFile(), 'utf8')).since).toMatch(/^\d+$/)
    for (let turn = 0; turn < 2; turn++) {
      expect(await other.send('take')).toBe('refused')
      // Less than the silence of a dead holder; the sum of both is more.
      expect(await other.send('advance 40000')).toBe('advanced')
      expect(await other.send('take')).toBe('refused')
      const before = heartbeat()
      await until(() => heartbeat() !== before)
    }
    expect(await other.send('take')).toBe('refused')
    await holder.kill()
    expect(await other.send('take')).toBe('taken')
    expect(statSync(lockFile()).uid).toBe(otherId)
    expect(await startHolder().send('take')).toBe('refused')
  })

  it('is taken after a minute of silence if another process has the id of its dead holder', async () => {
    const [holder, other] = [startHolder(), startOther()]
    expect(await holder.send('take')).toBe('taken')
    await holder.kill()
    const own = JSON.parse(readFileSync(lockFile(), 'utf8')) as object
    writeFileSync(lockFile(), JSON.stringify({ ...own, pid: process.pid }))
    for (const silence of [0, 20_000, 20_000]) {
      await other.send(`advance ${silence}`)
      expect(await other.send('take')).toBe('refused')
    }
    await other.send('advance 20000')
    expect(await other.send('take')).toBe('taken')
  })
})
