import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderProcess } from './process.ts'

interface Request {
  readonly fault: 'hang' | 'memory' | 'none'
  readonly number: number
}

function startProcess(hangMs = 60_000) {
  // Node.js says at length that it has no more memory.
  const running = new ReaderProcess<Request, string>('faulty-child.mjs', { hangMs, stderr: 'ignore' })
  onTestFinished(() => running.close())
  return running
}

describe('a process that runs readers', () => {
  it('ends when a reader does not return, tells at which input, and is started again', async () => {
    const running = startProcess(100)
    await expect(running.ask({ fault: 'hang', number: 7 })).rejects.toMatchObject({
      name: 'ProcessFailure',
      number: 7,
      message: 'it did not return within 0.1 s',
    })
    expect(await running.ask({ fault: 'none', number: 8 })).toBe('done')
  })

  it('ends when a reader takes too much memory, and tells at which input', async () => {
    await expect(startProcess().ask({ fault: 'memory', number: 9 })).rejects.toMatchObject({
      name: 'ProcessFailure',
      number: 9,
      message: expect.stringMatching(/^the process ended \((?:SIGABRT|exit code 134|SIGTRAP)\)$/),
    })
  })
})
