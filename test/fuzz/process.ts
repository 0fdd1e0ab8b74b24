import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { none, readProgress, writeProgress } from './progress.ts'

/** Twice what the program takes with all readers loaded. */
const maxHeapMiB = 256
/** Initial size of the young generation: its maximum, instead of 1 MiB. Fewer garbage collections take a seventh less CPU time. */
const youngMiB = 16
/** An input takes some milliseconds: long enough for one that gets a hundredth of a core. */
const defaultHangMs = 60_000
/** Until the source is loaded. */
const startMs = 120_000

/** The process hung at an input, or ended: for lack of memory, or by a fault of Node.js or of a library in machine code. */
export class ProcessFailure extends Error {
  override readonly name = 'ProcessFailure'
  /** Number of the input. */
  readonly number: number

  constructor(message: string, number: number) {
    super(message)
    this.number = number
  }
}

/**
 * A process that runs readers: one that never returns, or takes all memory, ends neither the tests nor without its input. Started for
 * the first message, and anew after a failure.
 */
export class ReaderProcess<Request extends object, Reply> {
  readonly #program: string
  readonly #path = join(tmpdir(), `tickwarden-fuzz-${randomUUID()}`)
  readonly #progress: number
  readonly #hangMs: number
  readonly #stderr: 'inherit' | 'ignore'
  #child: ChildProcess | undefined

  /**
   * @param program file in this folder, or an absolute path
   * @param hangMs milliseconds that one input may take
   */
  constructor(program: string, { hangMs = defaultHangMs, stderr = 'inherit' as 'inherit' | 'ignore' } = {}) {
    this.#hangMs = hangMs
    this.#stderr = stderr
    this.#program = resolve(import.meta.dirname, program)
    this.#progress = openSync(this.#path, 'w+')
  }

  /** @throws ProcessFailure */
  async ask(request: Request): Promise<Reply> {
    this.#child ??= fork(this.#program, {
      execArgv: [
        // Loading tsx takes a third of a second.
        ...(this.#program.endsWith('.ts') ? ['--import', 'tsx'] : ['--enable-source-maps']),
        ...[`--max-old-space-size=${maxHeapMiB}`, `--min-semi-space-size=${youngMiB}`],
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', this.#stderr, 'ipc', this.#progress],
    })
    const child = this.#child
    const hangMs = this.#hangMs
    writeProgress(none, this.#progress)
    return new Promise<Reply>((resolve, reject) => {
      let [last, since] = [readProgress(this.#progress), performance.now()]
      const finish = (act: () => void) => {
        clearInterval(timer)
        child.removeAllListeners()
        act()
      }
      const fail = (reason: string) =>
        finish(() => {
          child.kill('SIGKILL')
          this.#child = undefined
          reject(new ProcessFailure(reason, readProgress(this.#progress).number))
        })
      const timer = setInterval(
        () => {
          const now = readProgress(this.#progress)
          const ms = performance.now() - since
          // Its number too: the time of the start is not that of the first input.
          if (!isDeepStrictEqual(now, last)) [last, since] = [now, performance.now()]
          else if (ms > (now.number === none ? startMs : hangMs)) fail(`it did not return within ${hangMs / 1000} s`)
        },
        Math.min(1_000, hangMs),
      )
      child.once('message', (reply) => finish(() => resolve(reply as Reply)))
      child.once('exit', (code, signal) => fail(`the process ended (${signal ?? `exit code ${code}`})`))
      child.once('error', (error) => fail(error.message))
      child.send(request)
    })
  }

  close(): void {
    this.#child?.kill()
    closeSync(this.#progress)
    rmSync(this.#path)
  }
}

/** Some of these processes, each of which is asked one thing at a time. */
export class ReaderProcesses<Request extends object, Reply> {
  readonly #all: readonly ReaderProcess<Request, Reply>[]
  readonly #free: ReaderProcess<Request, Reply>[]
  readonly #waiting: ((free: ReaderProcess<Request, Reply>) => void)[] = []

  /** @param program file in this folder, or an absolute path */
  constructor(program: string, count: number) {
    this.#all = Array.from({ length: count }, () => new ReaderProcess<Request, Reply>(program))
    this.#free = [...this.#all]
  }

  /** Asks the first process that is free. @throws ProcessFailure */
  async ask(request: Request): Promise<Reply> {
    const free = this.#free.pop() ?? (await new Promise<ReaderProcess<Request, Reply>>((resolve) => this.#waiting.push(resolve)))
    try {
      return await free.ask(request)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(free)
      else next(free)
    }
  }

  close(): void {
    for (const running of this.#all) running.close()
  }
}
