import { ChildProcess, execFile, execFileSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { keystoreFingerprint } from '../../../../src/game/sources/management/keystore.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { hasTool } from '../../../helpers/require-tool.ts'
import { until } from '../../../helpers/until.ts'

const { execPath } = process

describe.skipIf(!hasTool('openssl'))('the fingerprint of a keystore', () => {
  let made: ReturnType<typeof selfSigned>
  const read = () => keystoreFingerprint(readFileSync(made.keystore), made.keystorePassword)

  beforeEach(() => {
    made = selfSigned()
  })
  afterEach(() => {
    process.execPath = execPath
    rmSync(made.folder, { recursive: true })
  })

  it.each(['/nowhere/node', `${import.meta.filename}/node`])(
    'is unknown while %s cannot be started, and no longer',
    async (path) => {
      process.execPath = path
      expect(await read()).toBeUndefined()
      process.execPath = execPath
      expect(await read()).toBe(made.fingerprint)
    },
  )

  it.skipIf(!hasTool('prlimit'))('is unknown while there is no free file descriptor, and no longer', async () => {
    const limitOf = (...options: string[]) => String(execFileSync('prlimit', [`--pid=${process.pid}`, ...options]))
    const before = limitOf('--nofile', '--output=SOFT', '--noheadings').trim()
    limitOf(`--nofile=${Math.max(...readdirSync('/proc/self/fd').map(Number)) + 50}:`)
    onTestFinished(() => void limitOf(`--nofile=${before}:`))
    const pfx = readFileSync(made.keystore)
    const taken: number[] = []
    try {
      expect(() => {
        for (;;) taken.push(openSync('/dev/null', 'r'))
      }).toThrow('EMFILE')
      expect(await keystoreFingerprint(pfx, made.keystorePassword)).toBeUndefined()
    } finally {
      for (const file of taken) closeSync(file)
    }
    expect(await read()).toBe(made.fingerprint)
  })

  it('is decoded once for all servers with the same keystore', async () => {
    const spawn = vi.spyOn(ChildProcess.prototype as unknown as { spawn(): void }, 'spawn')
    onTestFinished(() => spawn.mockRestore())
    expect(await Promise.all(Array.from({ length: 100 }, read))).toEqual(Array(100).fill(made.fingerprint))
    expect(await read()).toBe(made.fingerprint)
    expect(spawn).toHaveBeenCalledTimes(1)
  })

  it('is unknown for ten minutes after decoding it took too long', async () => {
    const prototype = ChildProcess.prototype as unknown as { spawn(...options: unknown[]): unknown }
    const { spawn } = prototype
    let started = 0
    prototype.spawn = function (this: ChildProcess, ...options) {
      const result = spawn.apply(this, options)
      // As it does itself at the limit.
      if (++started === 1) this.kill('SIGKILL')
      return result
    }
    const now = vi.spyOn(performance, 'now')
    onTestFinished(() => {
      Object.assign(prototype, { spawn })
      now.mockRestore()
    })
    const start = performance.now()
    now.mockReturnValue(start)
    for (let count = 0; count < 2; count++) expect(await read()).toBeUndefined()
    expect(started).toBe(1)
    now.mockReturnValue(start + 601_000)
    // The cache reads its clock again after a millisecond.
    await expect.poll(read).toBe(made.fingerprint)
  })

  it('is decoded, however long the process waits for the CPU', async () => {
    const prototype = ChildProcess.prototype as unknown as { spawn(...options: unknown[]): unknown }
    const { spawn } = prototype
    prototype.spawn = function (this: ChildProcess, ...options) {
      const result = spawn.apply(this, options)
      this.kill('SIGSTOP')
      // wait: for longer than the CPU time that it may take.
      setTimeout(() => this.kill('SIGCONT'), 2_500)
      return result
    }
    onTestFinished(() => void Object.assign(prototype, { spawn }))
    expect(await read()).toBe(made.fingerprint)
  })

  it('is not decoded again if it cannot be read, however long ago that was, and needs no password', async () => {
    const spawn = vi.spyOn(ChildProcess.prototype as unknown as { spawn(): void }, 'spawn')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const now = vi.spyOn(performance, 'now')
    onTestFinished(() => {
      vi.useRealTimers()
      spawn.mockRestore()
      now.mockRestore()
    })
    const start = performance.now()
    const pfx = readFileSync(made.keystore)
    for (const passedMs of [0, 0, 601_000]) {
      now.mockReturnValue(start + passedMs)
      expect(await keystoreFingerprint(pfx)).toBeUndefined()
      // The cache reads its clock again after a millisecond.
      vi.advanceTimersByTime(2)
    }
    expect(await keystoreFingerprint(pfx, '')).toBeUndefined()
    expect(spawn).toHaveBeenCalledTimes(1)
  })

  it('is unknown if the process ends before it has read the keystore', async () => {
    const uncaught = vi.fn()
    process.on('uncaughtException', uncaught)
    onTestFinished(() => void process.off('uncaughtException', uncaught))
    process.execPath = '/bin/false'
    expect(await keystoreFingerprint(Buffer.alloc(1024 * 1024))).toBeUndefined()
    expect(uncaught).not.toHaveBeenCalled()
  })

  it('is decoded by two processes at once', async () => {
    let [running, maxRunning] = [0, 0]
    const prototype = ChildProcess.prototype as unknown as { spawn(...options: unknown[]): unknown }
    const { spawn } = prototype
    prototype.spawn = function (this: ChildProcess, ...options) {
      maxRunning = Math.max(maxRunning, ++running)
      this.once('exit', () => running--)
      return spawn.apply(this, options)
    }
    onTestFinished(() => void Object.assign(prototype, { spawn }))
    const pfx = readFileSync(made.keystore)
    const listeners = process.listenerCount('exit')
    await Promise.all(Array.from({ length: 6 }, (_, index) => keystoreFingerprint(pfx, `wrong ${index}`)))
    expect(maxRunning).toBe(2)
    expect(process.listenerCount('exit')).toBe(listeners)
  })

  it('is not decoded after the service has ended', async () => {
    const service = `
      import { ChildProcess } from 'node:child_process'
      import { readFileSync } from 'node:fs'
      const { keystoreFingerprint } = await import(${JSON.stringify(import.meta.resolve('../../../../dist/src/game/sources/management/keystore.js'))})
      const { spawn } = ChildProcess.prototype
      ChildProcess.prototype.spawn = function (...options) {
        const result = spawn.apply(this, options)
        // It would not end by itself.
        process.kill(this.pid, 'SIGSTOP')
        process.stdout.write(String(this.pid), () => process.exit())
        return result
      }
      void keystoreFingerprint(readFileSync(${JSON.stringify(made.keystore)}), 'secret')`
    const args = ['--input-type=module', '--eval', service]
    const pid = await new Promise<number>((resolve, reject) => {
      execFile(execPath, args, (error, text) => (error ? reject(error) : resolve(Number(text))))
    })
    expect(pid).toBeGreaterThan(0)
    const isRunning = () => {
      try {
        return process.kill(pid, 0) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
      } catch {
        return false
      }
    }
    await until(() => !isRunning())
  })
})
